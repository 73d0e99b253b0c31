import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeContents } from './file-tree.ts'

const describePaths = (paths: string[]) =>
  describeContents(paths.map((path) => ({ path, sizeBytes: 10 })))
const fileTree = (paths: string[]) => describePaths(paths).tree

test('lists folders first, with the number of files below them', () => {
  const paths = ['README.md', 'src/b.ts', 'src/a.ts', 'src/deep/c.ts', '.ci/jobs/test.yml', '.env']
  const { files, sizeBytes, topNames } = describePaths(paths)
  assert.deepEqual([files, sizeBytes, topNames], [6, 60, ['src/', '.ci/jobs/', 'README.md']])
  assert.equal(
    fileTree(paths).markup,
    '<ul><li><details open><summary>src/ <span class="soft">3 files</span></summary>' +
      '<ul><li><details><summary>deep/ <span class="soft">1 file</span></summary><ul><li>c.ts</li></ul></details></li>' +
      '<li>a.ts</li><li>b.ts</li></ul></details></li>' +
      '<li><details open><summary>.ci/jobs/ <span class="soft">1 file</span></summary><ul><li>test.yml</li></ul></details></li>' +
      '<li>README.md</li><li>.env</li></ul>',
  )
})

test('a tree of 10,000 files stays short and counts the files that it does not list', () => {
  const wide = Array.from(
    { length: 10_000 },
    (_, index) => `file-${String(index).padStart(5, '0')}`,
  )
  const markup = fileTree(wide).markup
  assert.match(markup, /and 9,960 files more/)
  assert.ok(markup.length < 2_000, String(markup.length))

  const deep = Array.from(
    { length: 10_000 },
    (_, index) => `d${index % 30}/e${index % 7}/${index}.ts`,
  )
  const tree = fileTree(deep).markup
  assert.ok(tree.length < 12_000, String(tree.length))
  assert.match(tree, /d29\/ <span class="soft">333 files/)
})

test('a file and a folder may have the same name', () => {
  assert.deepEqual(describePaths(['a', 'a/b', 'a/c/d']).topNames, ['a/', 'a'])
})

test('names of files cannot inject markup', () => {
  assert.match(fileTree(['<img src=x>/a&b']).markup, /&lt;img src=x&gt;\/.*a&amp;b/)
  const name = fc.stringMatching(/^[^/]{1,8}$/)
  fc.assert(
    fc.property(
      fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 20 }),
      (all) => {
        const { markup } = fileTree(all.map((names) => names.join('/')))
        const allowed = /<\/?(?:ul|li|details|summary|span)(?: open| class="soft")?>/g
        assert.doesNotMatch(markup.replaceAll(allowed, ''), /[<>"]/)
      },
    ),
  )
})
