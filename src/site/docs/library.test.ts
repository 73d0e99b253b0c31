import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DocLibrary, type DocPage } from './library.ts'
import { docFile } from './pages.ts'
import { searchDocs } from './search.ts'

const SETTING = {
  brand: 'Zebra',
  urls: {
    base: 'https://api.zebra.example',
    frontend: 'https://app.zebra.example',
    storefront: 'https://zebra.example',
  },
}

const FILES = {
  'README.md': `# Docs

## Using

| Page | Task |
|---|---|
| [start.md](start.md) | make a call |
| [openapi.json](openapi.json) | no page |

## Building

| [code.md](code.md) | no page either |

## Operating

| Page | Task |
|---|---|
| [run.md](run.md) | run the service |
`,
  'start.md': `# Start with Latchkey

Call \`http://localhost:8000/v1\`, never http://localhost:80001. See [running](run.md#first), [code](../src/main.ts),
[the end](#the-end), [fields](openapi.json) and [RFC](https://rfc.example/1).

<!-- operator -->
Set \`SECRET\`.
<!-- /operator -->

## The end

\`X-Latchkey-Cost\` stays, and [code.md] too. The lantern \`[a](run.md)\`.
`,
  'run.md':
    '# Run it\n\nText.\n\n## First\n\n1. A lantern\n   - inside\n\n## Lantern\n\n| a | b |\n|---|---|\n| wick | oil |\n',
}

function openLibrary(t: TestContext): DocLibrary {
  const folder = mkdtempSync(join(tmpdir(), 'docs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content)
  return new DocLibrary(folder)
}

test('readers see the pages of their list, with the name and addresses of the service', (t) => {
  const library = openLibrary(t)
  const [start, ...others] = library.list('everyone', SETTING)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [start?.name, start?.title, start?.task],
    ['start', 'Start with Zebra', 'Make a call'],
  )
  const text = start?.text ?? ''
  assert.match(text, /`https:\/\/api\.zebra\.example\/v1`, never http:\/\/localhost:80001\./)
  assert.match(text, /See running, code,\n\[the end\]\(#the-end\)/)
  assert.match(text, /\[fields\]\(https:\/\/app\.zebra\.example\/reference\)/)
  assert.match(text, /\[RFC\]\(https:\/\/rfc\.example\/1\)/)
  assert.match(text, /`X-Latchkey-Cost` stays/)
  assert.match(text, /`\[a\]\(run\.md\)`/)
  assert.doesNotMatch(text, /SECRET|<!--/)
})

test('operators see every page and passage, with links between them', (t) => {
  const pages = openLibrary(t).list('operator', SETTING)
  assert.deepEqual(
    pages.map(({ name, audience }) => [name, audience]),
    [
      ['start', 'everyone'],
      ['run', 'operator'],
    ],
  )
  assert.match(pages[0]?.text ?? '', /\[running\]\(\/docs\/run#first\)[\s\S]*Set `SECRET`\./)
  assert.match(
    docFile(pages[0] as DocPage, SETTING.urls.storefront),
    /^# Start with Zebra\n[\s\S]*\(https:\/\/zebra\.example\/docs\/run#first\)/,
  )
})

test('a new name of the service appears in the same library', (t) => {
  const library = openLibrary(t)
  library.list('everyone', SETTING)
  const [start] = library.list('everyone', { ...SETTING, brand: 'Okapi' })
  assert.equal(start?.title, 'Start with Okapi')
})

test('a search finds sections with all words, those with the words in their title first', (t) => {
  const pages = openLibrary(t).list('operator', SETTING)
  const find = (query: string) =>
    searchDocs(pages, query).map(({ page, section }) => `${page.name}#${section.id}`)
  assert.deepEqual(find('LANTERN'), ['run#lantern', 'start#the-end', 'run#first'])
  assert.deepEqual(find('wick lantern'), ['run#lantern'])
  assert.deepEqual(find('inside'), ['run#first'])
  assert.deepEqual(find('lantern missing'), [])
  assert.deepEqual(find('  .,;(  '), [])
  assert.deepEqual(find('x'.repeat(10_000)), [])
})
