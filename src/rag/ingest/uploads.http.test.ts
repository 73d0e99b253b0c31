// Uploads that are too long for memory: read whole, stored only in their place, and removed at the
// end of the request in every case.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FastifyReply } from 'fastify'
import { inMemory } from '#platform/content.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { buildDocx, buildZip, paragraph } from '#testing/office-samples.ts'
import { buildPdf, drawLines } from './parsers/samples.ts'
import { removeAfterReply } from './upload.ts'

const LINE = 'A line of a long text, with a number to tell it from the others. '

test('a long upload is a temporary file during the request, and leaves no file after it', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const text = LINE.repeat(9_000)
  const sha256 = createHash('sha256').update(text).digest('hex')

  const file = await upload(ada, 'long.txt', text)
  assert.equal(file.status, 200, file.text)
  const id = String(file.body.document_ids[0]).slice(0, 12)
  assert.deepEqual((await ada.get(`/api/rag/documents/${id}`)).body.file, {
    name: 'long.txt',
    bytes: text.length,
    sha256,
  })
  assert.ok((await ada.get(`/api/rag/documents/${id}/file`)).text === text)
  assert.deepEqual(left(app), [])

  const json = await ada.post('/api/rag/ingest/text', { content: `${text} Also.` })
  assert.equal(json.status, 200, json.text)
  assert.equal(json.body.chunks_created, file.body.chunks_created)

  const headers = { prefer: 'respond-async' }
  for (const queued of [
    await upload(ada, 'later.txt', `${text} Later.`, headers),
    await ada.post('/api/rag/ingest/text', { content: `${text} Later too.` }, { headers }),
  ]) {
    assert.equal(queued.status, 202, queued.text)
    await app.settle()
    const job = await ada.get(`/api/rag/jobs/${queued.body.job_id}`)
    assert.deepEqual([job.body.state, job.body.error], ['done', null])
  }
  assert.deepEqual(left(app), [])

  for (const [status, refused] of [
    [422, await upload(ada, 'binary.txt', `${text}\0\x01\x02${'\x03'.repeat(400_000)}`)],
    [415, await upload(ada, 'long.exe', text)],
    [413, await upload(ada, 'endless.txt', 'x'.repeat(26 * 1024 * 1024))],
    [422, await upload(ada, 'long.txt', text, {}, { chunk_size: 'many' })],
    [422, await ada.post('/api/rag/ingest/text', { content: text, chunk_size: 'many' })],
    [422, await ada.post('/api/rag/ingest/text', `{"content":"${text}`)],
    [413, await ada.post('/api/rag/ingest/text', { content: 'x'.repeat(65 * 1024 * 1024) })],
  ] as const) {
    assert.equal(refused.status, status, refused.text.slice(0, 500))
    assert.deepEqual(left(app), [])
  }
})

test('reads long files of every format like short ones', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  // Invisible and incompressible: the file is long, its text is not.
  const noise = randomBytes(600_000)
  const bulk = { 'noise.bin': noise.toString('base64') }
  const relation = (type: string, target: string) =>
    `<Relationships><Relationship Id="r1" Type="x/${type}" Target="${target}"/></Relationships>`
  const workbook = {
    '_rels/.rels': relation('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': '<workbook><sheets><sheet name="Lamps" id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relation('worksheet', 'sheet.xml'),
    'xl/sheet.xml':
      '<worksheet><sheetData><row><c r="A1" t="inlineStr"><is><t>Forty-one lamps</t></is></c></row></sheetData></worksheet>',
  }
  const files: [name: string, bytes: Uint8Array | string][] = [
    ['lamps.txt', `Forty-one lamps. ${LINE.repeat(9_000)}`],
    ['lamps.csv', `lamps\n${'Forty-one lamps\n'.repeat(40_000)}`],
    ['lamps.html', `<p>Forty-one lamps</p><!-- ${noise.toString('base64')} -->`],
    ['lamps.pdf', buildPdf([`${drawLines(['Forty-one lamps'])}\n% ${noise.toString('base64')}`])],
    ['lamps.docx', buildDocx(paragraph('Forty-one lamps'), bulk)],
    ['lamps.xlsx', buildZip({ ...workbook, ...bulk })],
  ]
  for (const [name, bytes] of files) {
    assert.ok(Buffer.byteLength(bytes) > 550_000, name)
    const taken = await upload(ada, name, bytes)
    assert.equal(taken.status, 200, `${name}: ${taken.text}`)
    const queued = await upload(ada, name, bytes, { prefer: 'respond-async' })
    assert.equal(queued.status, 202, `${name}: ${queued.text}`)
    await app.settle()
    const job = await ada.get(`/api/rag/jobs/${queued.body.job_id}`)
    assert.deepEqual([name, job.body.state, job.body.error], [name, 'done', null])
    const { results } = (
      await ada.post('/api/rag/search', { query: 'forty-one lamps', filter: { source: name } })
    ).body
    assert.match(results[0]?.content ?? '', /Forty-one lamps/, name)
  }
  assert.deepEqual(left(app), [])
})

test('accepts a file up to its limit and refuses one byte more', async (t) => {
  const app = await testApp(t, { env: { MAX_FILE_MB: '1' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const page = (bytes: number) => `<p>Short.</p><!-- ${'.'.repeat(bytes - 21)} -->`.slice(0, bytes)
  assert.equal((await upload(ada, 'full.html', page(1024 * 1024))).status, 200)
  const beyond = await upload(ada, 'over.html', page(1024 * 1024 + 1))
  assert.deepEqual([beyond.status, beyond.body.code], [413, 'file_too_large'])
  assert.deepEqual(left(app), [])
})

test('a client that leaves during the upload leaves no file behind', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const begun = LINE.repeat(9_000)
  const starts: [path: string, type: string, start: string][] = [
    ['/api/rag/ingest/text', 'application/json', `{"content":"${begun}`],
    [
      '/api/rag/ingest/file',
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${begun}`,
    ],
  ]
  for (const [path, type, start] of starts) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: ${type}\r\nContent-Length: 9000000\r\n\r\n${start}`,
    )
    await until(() => left(app).length > 0)
    socket.destroy()
    await until(() => left(app).length === 0)
  }
  assert.equal((await upload(ada, 'a.txt', begun)).status, 200)
})

test('removes a file whose client has left when the upload completes', () => {
  let removed = 0
  const content = { ...inMemory(Buffer.from('Too late.')), remove: () => void removed++ }
  const gone = { raw: Object.assign(new EventEmitter(), { destroyed: true }) }
  removeAfterReply(gone as unknown as FastifyReply, content)
  assert.equal(removed, 1)
})

test('the next start removes uploads of a killed process', async (t) => {
  const app = await testApp(t)
  const folder = join(app.dataDir, 'tmp', 'of-a-killed-one')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'upload'), 'left')
  assert.equal(left(app).length, 1)
  await app.restart()
  assert.deepEqual(left(app), [])
})

test('a client that disconnects after its last byte occupies no thread', {
  timeout: 60_000,
}, async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const body = JSON.stringify({ content: LINE.repeat(9_000) })
  // As many as there are threads and waiting places, and some more.
  for (let i = 0; i < 14; i++) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /api/rag/ingest/text HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    )
    await until(() => bytesLeft(app) === body.length - 1)
    socket.write(body.slice(-1), () => socket.destroy())
    await until(() => left(app).length === 0)
  }
  const answer = await ada.post('/api/rag/ingest/text', { content: LINE.repeat(9_001) })
  assert.equal(answer.status, 200, answer.text)
})

test('a full disk is reported in plain words, and short texts are still accepted', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const text = LINE.repeat(9_000)
  // No folder can be created in place of a file.
  const folder = join(app.dataDir, 'tmp')
  writeFileSync(folder, '')
  for (const refused of [
    await ada.post('/api/rag/ingest/text', { content: text }),
    await upload(ada, 'a.txt', text),
    await upload(ada, 'a.txt', text.repeat(15)),
  ]) {
    assert.equal(refused.status, 503, refused.text)
    assert.equal(refused.body.code, 'upload_not_taken')
    assert.match(refused.body.detail, /the disk takes no more/)
    assert.equal(refused.headers.get('retry-after'), '30')
  }
  assert.equal((await ada.post('/api/rag/ingest/text', { content: LINE })).status, 200)
  assert.equal((await upload(ada, 'short.txt', `${LINE} Short.`)).status, 200)
  rmSync(folder)
  assert.equal((await upload(ada, 'a.txt', text)).status, 200)
})

function upload(
  client: Client,
  name: string,
  content: string | Uint8Array,
  headers: Record<string, string> = {},
  fields: Record<string, string> = {},
) {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name)
  return client.post('/api/rag/ingest/file', form, { headers })
}

function left(app: TestApp): string[] {
  const folder = join(app.dataDir, 'tmp')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('process.lock'))
    .map((entry) => join(entry.parentPath, entry.name))
}

const bytesLeft = (app: TestApp) =>
  left(app).reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}
