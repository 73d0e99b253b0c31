import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createClient, testApp } from '#testing/app.ts'
import { isIgnored } from './folder.ts'
import { type SyncOptions, syncFolder } from './sync.ts'

function folderOf(t: TestContext, files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-sync-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const [path, text] of Object.entries(files)) put(path, text)
  return { folder, put, remove: (path: string) => rmSync(join(folder, path)) }
}

test('a sync uploads changes only, waits for limits, and deletes on request', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_RAG: '6/60' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const key = (await ada.post('/api/api-keys', { name: 'sync' })).body.key
  const program = createClient(app.url, key, ada)
  const aMinuteLater = () => app.clock.advance(60_000)
  const names = async () => {
    const rows = await app.platform.db
      .selectFrom('rag_external_ids')
      .select('external_id')
      .execute()
    return rows.map(({ external_id }) => external_id).sort()
  }
  const long = Array.from(
    { length: 30_000 },
    (_, n) => `Line ${n} of a long log that says nothing new.`,
  ).join('\n')
  const { folder, put, remove } = folderOf(t, {
    'a.md': 'The first paper.',
    'deep/er/b.txt': 'The second paper.',
    'deep/c.md': 'The third paper.',
    'same.md': 'The third paper.',
    'long.txt': long,
    'empty.txt': '',
    'picture.png': 'not a text',
    'broken.pdf': 'no PDF',
    '.git/config': 'secret',
    'node_modules/x/readme.md': 'not ours',
    'drafts/d.md': 'not yet',
    'e.log': 'noise',
    '.latchkeyignore': '# what is not ready\ndrafts/\n',
  })
  symlinkSync('/etc/hostname', join(folder, 'outside.txt'))
  let waitedMs = 0
  const sync = async (changes: Partial<SyncOptions> = {}) => {
    const lines: string[] = []
    const code = await syncFolder({
      folder,
      url: `${app.url}/`,
      key,
      name: 'papers',
      ignore: ['*.log'],
      deletes: false,
      allowsEmpty: false,
      isTrial: false,
      stateFile: null,
      print: (line) => void lines.push(line),
      async wait(ms) {
        waitedMs += ms
        app.clock.advance(ms)
        await app.settle()
      },
      ...changes,
    })
    return { code, lines, last: lines.at(-1) }
  }

  const trial = await sync({ isTrial: true })
  assert.equal(trial.last, '7 to send, 0 unchanged, 0 to delete, 1 skipped, 0 failed')
  assert.deepEqual(await names(), [])

  const first = await sync()
  assert.equal(
    first.last,
    '5 sent, 0 unchanged, 0 deleted, 2 skipped, 1 failed',
    first.lines.join('\n'),
  )
  assert.equal(first.code, 1)
  assert.ok(first.lines.some((line) => /^skipped empty\.txt: the file is empty/.test(line)))
  assert.ok(waitedMs > 0, 'the limit is six requests a minute')
  assert.deepEqual(
    await names(),
    ['a.md', 'deep/c.md', 'deep/er/b.txt', 'long.txt', 'same.md'].map((path) => `papers/${path}`),
  )

  const again = await sync()
  assert.equal(
    again.last,
    '0 sent, 5 unchanged, 0 deleted, 2 skipped, 1 failed',
    again.lines.join('\n'),
  )
  assert.equal(again.code, 1, 'what cannot be read fails at each run')

  remove('broken.pdf')
  const clean = await sync()
  assert.deepEqual(
    [clean.code, clean.last],
    [0, '0 sent, 5 unchanged, 0 deleted, 2 skipped, 0 failed'],
  )
  aMinuteLater()
  const sources = (await program.get('/api/rag/documents')).body.map(
    ({ source }: { source: string }) => source,
  )
  assert.ok(sources.includes('deep/er/b.txt'), sources.join(', '))

  put('a.md', 'The first paper, corrected.')
  remove('deep/c.md')
  remove('deep/er/b.txt')
  // A killed process leaves an incomplete line.
  appendFileSync(join(folder, '.latchkey-sync.jsonl'), '{"service":"htt')
  const changed = await sync()
  assert.match(changed.last ?? '', /^1 sent, /)
  assert.ok(changed.lines.includes('replaced a.md'))
  assert.ok(changed.lines.some((line) => /--delete removes them/.test(line)))
  aMinuteLater()
  const found = await program.post('/api/rag/search', { query: 'first paper', top_k: 1 })
  assert.match(found.text, /corrected/)

  const pruned = await sync({ deletes: true })
  assert.match(pruned.last ?? '', /^0 sent, .* 1 deleted/, pruned.lines.join('\n'))
  // One of c.md and same.md still has the text.
  assert.ok((await names()).includes('papers/same.md'))
  assert.ok(!(await names()).includes('papers/deep/er/b.txt'))

  aMinuteLater()
  const gone = await program.get('/api/rag/documents')
  await program.delete(`/api/rag/documents/${gone.body[0].id}`)
  assert.match((await sync()).last ?? '', /^1 sent, /, 'what the service has lost is sent again')

  // A renamed file, and a file whose new content cannot be parsed.
  renameSync(join(folder, 'a.md'), join(folder, 'renamed.md'))
  put('same.md', '')
  const renamed = await sync({ deletes: true })
  assert.equal(
    renamed.last,
    '1 sent, 1 unchanged, 0 deleted, 3 skipped, 0 failed',
    renamed.lines.join('\n'),
  )
  assert.ok((await names()).includes('papers/renamed.md'))
  const still =
    /^skipped same\.md: the file is empty.*\(the service still has the earlier version\)$/
  for (const { code, lines } of [renamed, await sync()]) {
    assert.equal(code, 0)
    assert.ok(
      lines.some((line) => still.test(line)),
      lines.join('\n'),
    )
  }

  // Ended while its job runs: the next run waits for that job and sends nothing.
  put('long.txt', `${long}\nOne more.`)
  const killed = Object.assign(new Error('killed'), { isKill: true })
  const jobsNow = async () =>
    (await app.platform.db.selectFrom('rag_jobs').select('id').execute()).length
  const before = await jobsNow()
  aMinuteLater()
  await assert.rejects(sync({ wait: () => Promise.reject(killed) }), killed)
  assert.equal(await jobsNow(), before + 1)
  const resumed = await sync()
  assert.ok(resumed.lines.includes('replaced long.txt'), resumed.lines.join('\n'))
  assert.equal(await jobsNow(), before + 1)

  // A job that the user cancelled fails without affecting others, and its file is sent again.
  put('long.txt', `${long}\nTwo more.`)
  const cancelled = await sync({
    async wait() {
      for (const { id } of (await ada.get('/api/rag/jobs')).body)
        await ada.delete(`/api/rag/jobs/${id}`)
    },
  })
  assert.match(cancelled.last ?? '', /^0 sent, .* 1 failed$/, cancelled.lines.join('\n'))
  assert.ok((await sync()).lines.includes('replaced long.txt'))

  const { folder: unmounted } = folderOf(t, {})
  const count = (await names()).length
  await assert.rejects(
    sync({ folder: unmounted, deletes: true }),
    /is it mounted\? Nothing was deleted/,
  )
  assert.equal((await names()).length, count)
  await assert.rejects(sync({ key: 'lk_nobodys' }), /rejects the key/)
})

test('patterns match names, or paths if they contain a slash', () => {
  const ignored = (path: string, pattern: string, isFolder = false) =>
    isIgnored(path, isFolder, [pattern])
  assert.ok(ignored('a/b/c.log', '*.log'))
  assert.ok(!ignored('a/b/c.log', 'b/*.log'))
  assert.ok(ignored('a/b/c.log', 'a/**/*.log'))
  assert.ok(ignored('drafts', 'drafts/', true))
  assert.ok(!ignored('drafts', 'drafts/'))
  assert.ok(ignored('a/drafts', 'drafts/', true))
  assert.ok(!ignored('a/drafts', '/drafts', true))
  assert.ok(ignored('.env', '*.nothing'))
})
