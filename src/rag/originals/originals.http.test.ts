// Uploaded files: returned unchanged, to their owner alone, and deleted with their document, even
// when a process is killed in between.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { HOUR_MS } from '#platform/clock.ts'
import { inMemory } from '#platform/content.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { BUCKET_KEYS, startBucket } from '#testing/bucket.ts'
import { CHUNKS_PER_BATCH, describeDocument } from '../documents/documents.ts'
import { storeDocument } from '../ingest/ingest.ts'
import { buildPdf, drawLines } from '../ingest/parsers/samples.ts'
import { MARK_FILE } from './folder-mark.ts'
import { keepOriginal, sweepOriginals, withOriginal } from './originals.ts'

const upload = (
  client: Client,
  name: string,
  bytes: Uint8Array | string,
  more: Record<string, string> = {},
) => {
  const form = new FormData()
  for (const [field, value] of Object.entries(more)) form.append(field, value)
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return client.post('/api/rag/ingest/file', form)
}
const stored = async (...args: Parameters<typeof upload>): Promise<string> => {
  const reply = await upload(...args)
  assert.equal(reply.status, 200, reply.text)
  return String(reply.body.document_ids[0]).slice(0, 12)
}
const bytesAt = async (app: TestApp, client: Client, id: string) => {
  const reply = await fetch(`${app.url}/api/rag/documents/${id}/file`, {
    headers: { authorization: `Bearer ${client.token}` },
  })
  return {
    status: reply.status,
    headers: reply.headers,
    bytes: Buffer.from(await reply.arrayBuffer()),
  }
}
const uploaded = (name: string, bytes: Buffer) => ({
  name,
  content: inMemory(bytes),
  sha256: createHash('sha256').update(bytes).digest('hex'),
})
const filesIn = (app: TestApp) =>
  existsSync(join(app.dataDir, 'originals'))
    ? readdirSync(join(app.dataDir, 'originals'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== MARK_FILE)
        .map((entry) => join(entry.parentPath, entry.name))
    : []

test('an original is encrypted at rest, is returned byte for byte, and never runs on this origin', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const pdf = buildPdf([drawLines(['Terms of the lease']), drawLines(['Notice is three months.'])])
  const id = await stored(ada, 'lease (2026) — é.pdf', pdf)

  const { status, headers, bytes } = await bytesAt(app, ada, id)
  assert.equal(status, 200)
  assert.ok(bytes.equals(pdf))
  assert.equal(headers.get('content-length'), String(pdf.length))
  assert.equal(headers.get('content-type'), 'application/octet-stream')
  assert.equal(headers.get('content-security-policy'), "sandbox; default-src 'none'")
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('cache-control') ?? '', /private, no-store/)
  assert.equal(
    headers.get('content-disposition'),
    `attachment; filename="lease (2026) _ _.pdf"; filename*=UTF-8''lease%20%282026%29%20%E2%80%94%20%C3%A9.pdf`,
  )
  const [file = ''] = filesIn(app)
  assert.equal(readFileSync(file).includes('Notice'), false)

  // A page is never served as a page, under any name.
  const script = '<html><script>alert(document.domain)</script>'
  for (const name of [
    'evil.md',
    'evil.xml',
    'evil\r\nSet-Cookie: a=b.txt',
    '..',
    '../../etc/passwd.txt',
  ]) {
    const reply = await upload(ada, name, `${script} ${name}`)
    if (reply.status !== 200) continue
    const evil = await bytesAt(app, ada, String(reply.body.document_ids[0]).slice(0, 12))
    assert.equal(evil.headers.get('content-type'), 'application/octet-stream', name)
    assert.match(
      evil.headers.get('content-disposition') ?? '',
      /^attachment; filename="[^"\r\n]*"; /,
      name,
    )
    assert.match(evil.headers.get('content-security-policy') ?? '', /^sandbox;/, name)
    assert.equal(evil.headers.get('set-cookie'), null)
  }

  const document = await ada.get(`/api/rag/documents/${id}`)
  const sha256 = createHash('sha256').update(pdf).digest('hex')
  assert.deepEqual(document.body.file, { name: 'lease (2026) — é.pdf', bytes: pdf.length, sha256 })
  assert.equal(
    headers.get('repr-digest'),
    `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  )
  assert.deepEqual(document.body.spans, [
    { id: `${id}_0`, start: 0, end: 43, page: 1, page_end: 2, heading: null },
  ])
  const text = await ada.get(`/api/rag/documents/${id}_0/text`)
  assert.deepEqual(text.body, {
    id,
    source: 'lease (2026) — é.pdf',
    text: 'Terms of the lease\n\nNotice is three months.',
    next: null,
  })
  const { body } = await ada.post('/api/rag/search', { query: 'notice' })
  assert.deepEqual([body.results[0].metadata.page, body.results[0].metadata.page_end], [1, 2])

  const eve = await app.as('eve', { tier: 'pro' })
  const other = await stored(eve, 'eve.txt', 'Eve was here.')
  for (const path of ['', '/file', '/text']) {
    const foreign = await eve.get(`/api/rag/documents/${id}${path}`)
    const missing = await eve.get(`/api/rag/documents/000000000000${path}`)
    assert.deepEqual([foreign.status, foreign.body.code], [404, 'document_not_found'], path)
    assert.deepEqual(foreign.body.detail, missing.body.detail)
    assert.equal((await ada.get(`/api/rag/documents/${other}${path}`)).status, 404)
    assert.equal((await app.get(`/api/rag/documents/${id}${path}`)).status, 401)
    for (const odd of ['..', '%2e%2e%2fusers', `${id}_1`, `${id}_9999999999`, 'x'.repeat(5_000)]) {
      const reply = await ada.get(`/api/rag/documents/${odd}${path}`)
      assert.ok(reply.status === 404 || reply.status === 414, `${odd}${path}: ${reply.status}`)
    }
  }

  // The holder of the folder cannot swap files between users: each is sealed for its own id.
  const files = filesIn(app)
  const ofEve =
    files.find((path) => readFileSync(path).length === 'Eve was here.'.length + 16) ?? ''
  writeFileSync(ofEve, readFileSync(files.find((path) => path !== ofEve) ?? ''))
  const forged = await fetch(`${app.url}/api/rag/documents/${other}/file`, {
    headers: { authorization: `Bearer ${eve.token}` },
  })
    .then((reply) => reply.text())
    .catch(() => 'broken off')
  assert.equal(forged.includes('Terms') || forged.includes('alert'), false)
})

describe('an original goes with its document', () => {
  test('when it is deleted, replaced, cut to nothing, or its account ends; a refused upload leaves none', async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    const count = async () => {
      await app.settle()
      return filesIn(app).length
    }

    const first = await stored(ada, 'a.txt', 'One text.')
    assert.equal(await count(), 1)
    // The same text from another file: the later file is stored.
    await stored(ada, 'b.txt', 'One text.')
    assert.equal(await count(), 1)
    assert.equal((await ada.get(`/api/rag/documents/${first}`)).body.file.name, 'b.txt')
    await ada.post('/api/rag/ingest/text', { content: 'One text.' })
    assert.equal(await count(), 0)
    assert.deepEqual(
      (await ada.get(`/api/rag/documents/${first}/file`)).body.code,
      'original_not_found',
    )

    await stored(ada, 'c.txt', 'Version one.', { external_id: 'c' })
    await stored(ada, 'c.txt', 'Version two.', { external_id: 'c' })
    assert.equal(await count(), 1)
    await stored(ada, 'c.txt', 'Version three.', { replace: 'source' })
    assert.equal(await count(), 1)
    const last = await stored(ada, 'd.txt', 'To be deleted.')
    assert.equal((await ada.delete(`/api/rag/documents/${last}_0`)).status, 200)
    assert.equal(await count(), 1)

    assert.equal((await upload(ada, 'e.pdf', 'no PDF')).status, 422)
    assert.equal((await upload(ada, 'f.txt', 'x'.repeat(3_000), { external_id: '\0' })).status, 422)
    assert.equal(await count(), 1)

    assert.equal(
      (await ada.delete('/api/users/me', { password: 'correct horse battery' })).status,
      200,
    )
    assert.equal(await count(), 0)
  })

  test('and stays where its document was stored, though the reply to the commit was lost', async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    const { deps } = app.service.rag
    const lost = new Error('Connection terminated unexpectedly')
    const storing = withOriginal(
      deps,
      ada.userId,
      uploaded('a.txt', Buffer.from('A text.')),
      async (originalId) => {
        const document = {
          text: 'A text.',
          metadata: {},
          source: 'a.txt',
          externalId: null,
          replacesSource: false,
        }
        const settings = { chunkSize: 1_000, chunkOverlap: 0 }
        await storeDocument(
          deps,
          ada.userId,
          { ...document, ...settings, originalId },
          AbortSignal.timeout(60_000),
        )
        throw lost
      },
    )
    await assert.rejects(storing, lost)
    await app.settle()
    assert.equal(filesIn(app).length, 1)
    const [document] = (await ada.get('/api/rag/documents')).body
    assert.equal((await ada.get(`/api/rag/documents/${document.id}/file`)).text, 'A text.')
  })

  test('and stays while its document is written, for any length of time', async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    const { deps } = app.service.rag
    const text = 'A line of a very long text that is cut into pieces. '.repeat(5_000)
    const id = await withOriginal(
      deps,
      ada.userId,
      uploaded('a.txt', Buffer.from(text)),
      async (originalId) => {
        const document = {
          text,
          metadata: {},
          source: 'a.txt',
          externalId: null,
          replacesSource: false,
          originalId,
        }
        const pipeline: typeof deps.pipeline = {
          ...deps.pipeline,
          async chunk(...asked) {
            const chunked = await deps.pipeline.chunk(...asked)
            const read: typeof chunked.read = async (...span) => {
              app.clock.advance(4 * HOUR_MS)
              await sweepOriginals(deps)
              return chunked.read(...span)
            }
            return { ...chunked, read }
          },
        }
        const sized = { ...document, chunkSize: 200, chunkOverlap: 0 }
        const stored = await storeDocument(
          { ...deps, pipeline },
          ada.userId,
          sized,
          new AbortController().signal,
        )
        assert.ok(stored.chunks_created > 3 * CHUNKS_PER_BATCH)
        return String(stored.document_ids[0]).slice(0, 12)
      },
    )
    const { file } = await describeDocument(deps, ada.userId, id, 1)
    assert.equal(file?.name, 'a.txt')
  })

  test('also where a process was killed between the file and its document', async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    const { deps } = app.service.rag
    const kept = await stored(ada, 'kept.txt', 'A text to keep.')
    // Killed: the row and the file exist, the document does not; of another file only a part
    // exists.
    await keepOriginal(deps, ada.userId, uploaded('killed.txt', Buffer.from('killed')))
    const half =
      (await keepOriginal(deps, ada.userId, uploaded('half.txt', Buffer.from('half')))) ?? ''
    const path = filesIn(app).find((file) => file.endsWith(half)) ?? ''
    writeFileSync(`${path}.partial`, 'ha')
    rmSync(path)
    assert.equal(filesIn(app).length, 3)

    assert.equal(await sweepOriginals(deps), 0, 'what may still be on its way stays')
    app.clock.advance(7 * HOUR_MS)
    assert.equal(await sweepOriginals(deps), 2)
    await app.settle()
    assert.equal(filesIn(app).length, 1)
    const { file } = await describeDocument(deps, ada.userId, kept, 1)
    assert.equal(file?.name, 'kept.txt')
  })
})

test('stores originals in the configured bucket', async (t) => {
  const objects: Record<string, string> = {}
  const endpoint = await startBucket(t, objects)
  const app = await testApp(t, {
    env: {
      ORIGINALS_DIR: 's3://products-bucket/users/files',
      S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await stored(ada, 'a.txt', 'A text in a bucket.')
  const [key = ''] = Object.keys(objects)
  assert.match(key, /^users\/files\/[0-9a-f-]{36}$/)
  assert.equal(objects[key]?.includes('bucket'), false)
  assert.equal((await ada.get(`/api/rag/documents/${id}/file`)).text, 'A text in a bucket.')
  await ada.delete(`/api/rag/documents/${id}`)
  await app.settle()
  assert.deepEqual(objects, {})
})

test('a file that cannot be stored is refused, and its text is not stored without it', async (t) => {
  await assert.rejects(
    testApp(t, { env: { ORIGINALS_DIR: '/dev/null/originals' } }),
    /ORIGINALS_DIR: .* cannot be/,
  )
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const folder = join(app.dataDir, 'originals')
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  const refused = await upload(ada, 'b.txt', 'Nowhere to go.')
  assert.deepEqual([refused.status, refused.body.code], [503, 'file_not_kept'])
  assert.equal((await ada.get('/api/rag/documents')).body.length, 0)
})

test('with ORIGINALS_DIR=off only texts are stored', async (t) => {
  const app = await testApp(t, { env: { ORIGINALS_DIR: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await stored(ada, 'a.txt', 'A text alone.')
  assert.equal((await ada.get(`/api/rag/documents/${id}`)).body.file, null)
  assert.equal((await ada.get(`/api/rag/documents/${id}/file`)).body.code, 'original_not_found')
  assert.deepEqual(filesIn(app), [])
})
