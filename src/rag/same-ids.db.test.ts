// A user with documents, a twin with the same ids, and a stranger without documents. The user's
// changes leave the twin's rows alone, and the stranger reads and changes no row of either.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { createTwin } from '#testing/twin.ts'
import * as collections from './collections/collection-store.ts'
import * as chunks from './documents/chunk-store.ts'
import * as documents from './documents/document-store.ts'
import { readStored } from './documents/storage.ts'
import * as jobs from './ingest/ingest-job-store.ts'
import * as originals from './originals/original-store.ts'
import { readProgress } from './rebuild/progress.ts'
import { listStaleUsers } from './rebuild/rebuild.ts'
import { listUnembedded, setStoreEmbedder } from './rebuild/store-embedder.ts'

const EMBEDDER = 'test'
const SOURCE = 'diary.txt'
const QUERY = new Float32Array([1, 0, 0, 0])

/** The ids of what the user has. */
type Ids = { document: string; version: string; collection: string; job: string; original: string }

test('a user reads their own documents, not those of a user with the same ids', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const ada = await app.as('ada', { tier: 'pro' })
  const bob = await app.as('bob', { tier: 'pro' })
  const ids = await storeDocuments(app, ada)
  const alone = await readAll(app, ada.userId, ids)
  const nothing = await readAll(app, bob.userId, ids)
  assert.deepEqual(nothing, await readAll(app, 'nobody', ids))
  for (const [name, value] of Object.entries(nothing))
    assert.notDeepEqual(value, alone[name as keyof typeof alone], name)

  assert.deepEqual(await listStaleUsers(db, EMBEDDER, ada.userId), [], 'after the last user')
  assert.equal(await jobs.eraseInputsSlice(db, bob.userId), 0)

  await createTwin(app, ada.userId)
  const { user_id } = await db
    .selectFrom('rag_stores')
    .select('user_id')
    .where('user_id', '<>', ada.userId)
    .executeTakeFirstOrThrow()
  // The twin's names and collection lead to the other document, too.
  const [other] = (await documents.listVersions(db, ada.userId)).filter(
    ({ id }) => id !== ids.document,
  )
  const ofOther = { user_id, document_id: other?.id ?? '' }
  const now = clock.now()
  await db
    .insertInto('rag_external_ids')
    .values({ user_id, document_id: ids.document, external_id: 'second', named_at: now })
    .execute()
  await db
    .insertInto('rag_collection_documents')
    .values({ ...ofOther, collection_id: ids.collection, added_at: now })
    .execute()
  await db
    .updateTable('rag_external_ids')
    .set(ofOther)
    .where('user_id', '=', user_id)
    .where('external_id', '=', 'diary')
    .execute()
  app.service.rag.deps.vectors.forget(ada.userId)
  assert.deepEqual(await readAll(app, ada.userId, ids), alone)
  assert.deepEqual(await readAll(app, bob.userId, ids), nothing)

  const row = await documents.findDocument(db, ada.userId, ids.document)
  assert.ok(row)
  const ofBob = { ...row, user_id: bob.userId, original_id: ids.original }
  assert.equal(await documents.putDocument(db, ofBob), undefined)
  const named = { externalId: 'diary', id: ids.document, at: now }
  assert.equal(await documents.setExternalId(db, bob.userId, named), undefined)
  assert.equal((await documents.viewDocument(db, bob.userId, ids.document))?.file, null)
})

test('a user changes their own documents, not those of a user with the same ids', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const { vectors } = app.service.rag.deps
  const ada = await app.as('ada', { tier: 'pro' })
  const { userId } = ada
  const { document, version, collection, job, original } = await storeDocuments(app, ada)
  const old = await db
    .selectFrom('rag_jobs')
    .selectAll()
    .where('id', '=', job)
    .executeTakeFirstOrThrow()
  await jobs.insertJob(db, { ...old, id: 'old', state: 'done', finished_at: clock.now() })
  const readTwin = await createTwin(app, userId)
  const untouched = await readTwin()
  const later = plus(clock.now(), 1)

  const changes: [name: string, change: () => Promise<unknown>][] = [
    [
      'updateCollection',
      () => collections.updateCollection(db, userId, collection, { name: 'New' }),
    ],
    [
      'removeFromCollection',
      () => collections.removeFromCollection(db, userId, document, collection),
    ],
    ['deleteCollectionRow', () => collections.deleteCollectionRow(db, userId, collection)],
    ['bumpRevision', () => documents.bumpRevision(db, userId)],
    ['updateDocument', () => documents.updateDocument(db, userId, document, { source: 'new' })],
    ['moveExternalIds', () => documents.moveExternalIds(db, userId, document, 'other')],
    ['deleteExternalId', () => documents.deleteExternalId(db, userId, 'diary')],
    ['deleteDocumentRow', () => documents.deleteDocumentRow(db, userId, document)],
    ['deleteChunks', () => chunks.deleteChunks(db, userId, version, null)],
    ['updateActive', () => jobs.updateActive(db, userId, job, { stage: 'reading' })],
    ['eraseInputsSlice', () => jobs.eraseInputsSlice(db, userId)],
    ['deleteInput', () => jobs.deleteInput(db, userId, job)],
    ['deleteOldJobs', () => jobs.deleteOldJobs(db, userId, later)],
    ['touchOriginal', () => originals.touchOriginal(db, userId, original, later)],
    ['deleteOriginal', () => originals.deleteOriginal(db, userId, original)],
    ['setStoreEmbedder', () => setStoreEmbedder(db, userId, EMBEDDER)],
    ['remove', () => vectors.remove(db, userId, version, null)],
    ['eraseSlice', () => vectors.eraseSlice(db, userId)],
    ['eraseChunksSlice', () => chunks.eraseChunksSlice(db, userId)],
    ['eraseOriginalRows', () => originals.eraseOriginalRows(db, userId)],
    ['eraseDocuments', () => documents.eraseDocuments(db, userId)],
  ]
  for (const [name, change] of changes) {
    await change()
    assert.deepEqual(await readTwin(), untouched, name)
  }
  for (const table of ['rag_documents', 'rag_chunks', 'rag_jobs', 'rag_originals'] as const) {
    const left = await db
      .selectFrom(table)
      .select('user_id')
      .where('user_id', '=', userId)
      .execute()
    assert.deepEqual(left, [], table)
  }
})

/** Stores a text with names, a file and a job that waits. */
async function storeDocuments(app: TestApp, client: Client): Promise<Ids> {
  const { db } = app.platform
  const { userId } = client
  const created = await client.post('/api/rag/collections', { name: 'Pigs' })
  const collection: string = created.body.id
  await client.patch(`/api/rag/collections/${collection}`, { instructions: 'Be brief.' })
  const content = 'Duroc is a pig. It is red.'
  const named = { content, external_id: 'diary', metadata: { source: SOURCE } }
  const stored = await client.post('/api/rag/ingest/text', { ...named, collections: [collection] })
  assert.equal(stored.status, 200, stored.text)
  const form = new FormData()
  form.append('file', new Blob([`${content} So it says.`]), 'pigs.txt')
  assert.equal((await client.post('/api/rag/ingest/file', form)).status, 200)
  const prefer = { headers: { prefer: 'respond-async' } }
  const waiting = await client.post('/api/rag/ingest/text', { ...named, content: 'New.' }, prefer)
  assert.equal(waiting.status, 202, waiting.text)

  const [document = ''] = await documents.listIdsOfSource(db, userId, SOURCE)
  const row = await documents.findDocument(db, userId, document)
  const [original = ''] = await originals.listOriginalIds(db, userId)
  const version = row?.version ?? ''
  await transaction(db, (tx) =>
    app.service.rag.deps.vectors.insert(tx, userId, { version, embedder: EMBEDDER }, [
      { index: 0, vector: QUERY },
    ]),
  )
  return { document, version, collection, job: waiting.body.job_id, original }
}

/** Reads by every statement that has a user. */
async function readAll(app: TestApp, userId: string, ids: Ids) {
  const { db } = app.platform
  const { vectors } = app.service.rag.deps
  const { document, version, collection, job, original } = ids
  const page = { limit: 9 }
  const scope = { documents: [{ version, edition: 0, totalChunks: 1 }], conditions: [] }
  const names = await documents.findExternalIds(db, userId, ['diary'])
  const embedder = { id: EMBEDDER } as Parameters<typeof readProgress>[0]['embedder']
  const inputs = async () => {
    const parts: Uint8Array[] = []
    const input = { user_id: userId, id: job, input_bytes: 1 }
    for await (const part of jobs.readInputParts(db, input)) parts.push(part)
    return parts.length
  }
  return {
    collections: await collections.listCollectionRows(db, userId),
    collection: await collections.findCollection(db, userId, collection),
    collectionIds: await collections.findCollectionIds(db, userId, [collection]),
    instructions: await collections.listInstructions(db, userId, [collection]),
    collectionCount: await collections.countCollections(db, userId),
    documentCount: await collections.countDocuments(db, userId, collection),
    members: await collections.listMemberIds(db, userId, [collection]),
    memberships: await collections.readMemberships(db, userId, [document]),
    chunk: await chunks.readChunk(db, userId, version, 0),
    chunks: await chunks.readChunks(db, userId, version, 0, 9),
    spans: await chunks.listSpans(db, userId, version, 0, 9),
    indexedTexts: await chunks.readIndexedTexts(db, userId, [version], 0, 9),
    chunkIndexes: await chunks.listChunkIndexes(db, userId, version, 0, 9),
    contents: await chunks.readContents(db, userId, [{ version, index: 0 }]),
    texts: await chunks.readTexts(db, userId, [document]),
    nextIndexes: await chunks.listNextIndexes(db, userId, version, 9),
    store: await documents.readStore(db, userId),
    document: await documents.findDocument(db, userId, document),
    documents: await documents.readDocuments(db, userId, [document]),
    hasExternalId: await documents.hasExternalId(db, userId, document),
    namedAlone: await documents.findNamedAlone(db, userId, 'diary'),
    idsOfSource: await documents.listIdsOfSource(db, userId, SOURCE),
    names,
    versions: await documents.listVersions(db, userId),
    list: await documents.listDocumentRows(db, userId, page),
    listOfName: await documents.listDocumentRows(db, userId, { ...page, externalId: 'diary' }),
    listOfCollection: await documents.listDocumentRows(db, userId, { ...page, collection }),
    view: await documents.viewDocument(db, userId, document),
    hasDocuments: await documents.hasDocuments(db, userId),
    usersWithDocuments: await documents.findUsersWithDocuments(db, [userId]),
    hasEmbedded: await documents.hasEmbeddedDocument(db, userId, ''),
    isLive: await documents.isLive(db, userId, version),
    stored: await readStored(db, userId),
    job: await jobs.findJob(db, userId, job),
    jobs: await jobs.listJobs(db, userId, 9),
    active: await jobs.countActive(db, userId),
    activeStorage: await jobs.readActiveStorage(db, userId, new Set()),
    nextJob: await jobs.findNextJob(db, userId),
    inputs: await inputs().catch(() => 0),
    original: await originals.findOriginal(db, userId, original),
    originals: await originals.listOriginals(db, userId),
    originalIds: await originals.listOriginalIds(db, userId),
    isClaimed: await originals.isClaimed(db, userId, original),
    progress: await readProgress({ db, embedder }, userId),
    staleUsers: (await listStaleUsers(db, EMBEDDER, '')).includes(userId),
    unembedded: await listUnembedded(db, userId, { embedder: EMBEDDER, after: '', limit: 9 }),
    vectors: await vectors.listIndexes(db, userId, { version, embedder: EMBEDDER }, 0, 9),
    nearest: await vectors.nearest(userId, EMBEDDER, QUERY, scope, 9),
  }
}
