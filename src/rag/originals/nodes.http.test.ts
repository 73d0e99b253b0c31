// Originals with several nodes on one database. In a shared folder each node reads, removes and
// backs up every file. A node with another folder is refused, and a file missing from its place
// never counts as deleted.
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Config } from '#config/config.ts'
import { type Client, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { ON_EMBEDDED, ON_POSTGRES } from '#testing/database.ts'
import * as backup from '../../cli/backup.ts'
import * as doctor from '../../cli/doctor.ts'
import * as verify from '../../cli/verify.ts'
import { MARK_FILE } from './folder-mark.ts'
import { REMOVE_JOB } from './originals.ts'

const ON_SERVER = { skip: ON_EMBEDDED || (!ON_POSTGRES && 'SQLite has one node') }
const SECRET_KEY = 'a secret of the operator'

const temporary = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-nodes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function upload(client: Client, name: string, text: string): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([text]), name)
  const reply = await client.post('/api/rag/ingest/file', form)
  assert.equal(reply.status, 200, reply.text)
  return String(reply.body.document_ids[0]).slice(0, 12)
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== MARK_FILE)
    .map((entry) => join(entry.parentPath, entry.name))

/** Another node on the first one's database, with a different DATA_DIR. */
const startNode = (t: TestContext, first: TestApp, originals: string) =>
  testApp(t, {
    onData: { dataDir: temporary(t), databaseUrl: first.config.databaseUrl },
    env: { SECRET_KEY, ORIGINALS_DIR: originals },
  })

async function run(
  command: typeof backup,
  args: string[],
  app: TestApp,
  config: Config = app.config,
) {
  let text = ''
  const print = (line = '') => {
    text += `${line}\n`
  }
  const code = await command.run(args, { config, print, platform: async () => app.platform })
  return { code, text }
}

test(
  'nodes that share a folder read, delete, erase and back up the files of each other',
  ON_SERVER,
  async (t) => {
    const shared = join(temporary(t), 'originals')
    const one = await testApp(t, { env: { SECRET_KEY, ORIGINALS_DIR: shared } })
    const two = await startNode(t, one, shared)
    const ada = await one.as('ada', { tier: 'pro' })
    const there = await two.as('ada', { tier: 'pro' })

    const kept = await upload(ada, 'kept.txt', 'A text to keep.')
    const deleted = await upload(ada, 'deleted.txt', 'A text to delete.')
    assert.equal((await there.get(`/api/rag/documents/${kept}/file`)).text, 'A text to keep.')

    const to = join(temporary(t), 'backups')
    const made = await run(backup, [to], two)
    assert.equal(made.code, 0, made.text)
    const whole = await run(verify, [to], two)
    assert.equal(whole.code, 0, whole.text)
    const [name = ''] = readdirSync(to)
    assert.equal(filesIn(join(to, name, 'originals')).length, 2)

    assert.equal((await ada.delete(`/api/rag/documents/${deleted}`)).status, 200)
    await two.settle()
    assert.equal(filesIn(shared).length, 1)
    assert.equal((await there.delete('/api/users/me', { password: PASSWORD })).status, 200)
    await one.settle()
    assert.deepEqual(filesIn(shared), [])
  },
)

test(
  'a node whose folder is not the shared one does not start, and says what to do',
  ON_SERVER,
  async (t) => {
    const shared = join(temporary(t), 'originals')
    const one = await testApp(t, { env: { SECRET_KEY, ORIGINALS_DIR: shared } })
    const own = join(temporary(t), 'originals')
    const refused = new RegExp(
      `ORIGINALS_DIR: ${own} is not the folder .*${MARK_FILE} in it is missing.*Mount the folder`,
    )
    await assert.rejects(startNode(t, one, own), refused)
    // Files that an earlier service left there change nothing.
    mkdirSync(own)
    writeFileSync(join(own, MARK_FILE), 'of another database')
    await assert.rejects(startNode(t, one, own), /in it says 'of another database'/)
    const { text } = await run(doctor, [], one, { ...one.config, originals: own })
    assert.match(text, /✖ Originals .*is not the folder where this database keeps/)

    // The operator moved the files: the mark moves with them, or is copied by hand.
    const mark = readFileSync(join(shared, MARK_FILE), 'utf8')
    writeFileSync(join(own, MARK_FILE), mark)
    await startNode(t, one, own)
  },
)

test('while the folder is missing, files neither count as deleted nor are written elsewhere', async (t) => {
  const app = await testApp(t, { env: { SECRET_KEY } })
  const folder = join(app.dataDir, 'originals')
  const ada = await app.as('ada', { tier: 'pro' })
  const read = await upload(ada, 'read.txt', 'A text to read.')
  const deleted = await upload(ada, 'deleted.txt', 'A text to delete.')
  // As when a mount has vanished: an empty folder is in its place.
  renameSync(folder, `${folder}.away`)
  mkdirSync(folder)

  const missing = await ada.get(`/api/rag/documents/${read}/file`)
  assert.deepEqual([missing.status, missing.body.code], [503, 'original_missing'])
  const text = await ada.post('/api/rag/ingest/text', { content: 'Only a text.' })
  const never = await ada.get(
    `/api/rag/documents/${String(text.body.document_ids[0]).slice(0, 12)}/file`,
  )
  assert.deepEqual([never.status, never.body.code], [404, 'original_not_found'])

  const form = new FormData()
  form.append('file', new Blob(['Another text.']), 'new.txt')
  const refused = await ada.post('/api/rag/ingest/file', form)
  assert.deepEqual([refused.status, refused.body.code], [503, 'file_not_kept'])
  assert.deepEqual(readdirSync(folder), [])

  assert.equal((await ada.delete(`/api/rag/documents/${deleted}`)).status, 200)
  await app.settle()
  const jobs = await app.platform.db
    .selectFrom('jobs')
    .select(['last_error'])
    .where('kind', '=', REMOVE_JOB)
    .execute()
  assert.ok(jobs.length > 0, 'the job waits for its next try')
  for (const { last_error } of jobs)
    assert.match(String(last_error), /is not the folder where this database keeps/)

  rmSync(folder, { recursive: true })
  renameSync(`${folder}.away`, folder)
  app.clock.advance(10_000)
  await app.settle()
  assert.equal(filesIn(folder).length, 1)
  assert.equal((await ada.get(`/api/rag/documents/${read}/file`)).text, 'A text to read.')
})

test('with ORIGINALS_DIR=off an earlier file does not count as removed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await upload(ada, 'a.txt', 'A text.')
  await app.restart({ originals: null })
  assert.equal((await ada.delete(`/api/rag/documents/${id}`)).status, 200)
  await app.settle()
  const [job] = await app.platform.db
    .selectFrom('jobs')
    .select('last_error')
    .where('kind', '=', REMOVE_JOB)
    .execute()
  assert.match(
    String(job?.last_error),
    /ORIGINALS_DIR is off: set it to where the 1 files of this job lie/,
  )
})

test('backup and verify report a document whose uploaded file is missing', {
  skip: ON_EMBEDDED,
}, async (t) => {
  const app = await testApp(t, { env: { SECRET_KEY } })
  const ada = await app.as('ada', { tier: 'pro' })
  await upload(ada, 'a.txt', 'A text.')
  const [file = ''] = filesIn(join(app.dataDir, 'originals'))
  rmSync(file)
  const to = join(temporary(t), 'backups')

  const elsewhere = join(temporary(t), 'nothing')
  for (const config of [app.config, { ...app.config, originals: elsewhere }]) {
    const made = await run(backup, [to], app, config)
    assert.equal(made.code, 1)
    assert.match(made.text, /✖ 1 uploaded files are missing in this backup: originals\/../)
    const whole = await run(verify, [to], app)
    assert.equal(whole.code, 1)
    assert.match(whole.text, /✖ 1 uploaded files are missing/)
  }
})
