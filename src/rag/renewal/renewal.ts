/**
 * The change of the embedder, in the background: for each user whose documents lack the vectors of the one that is set, they are made beside those
 * that are searched, a slice a commit and one request at a time, and the user then goes over to them at once. It goes on where a killed process
 * left it. The trap: a text that its vendor refuses must not hold up the other users.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, transaction } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { JobContext } from '#platform/jobs/runner.ts'
import type { RagDeps } from '../deps.ts'
import { readChunks } from '../documents/chunk-store.ts'
import {
  bumpRevision,
  findDocument,
  lockDocuments,
  updateDocument,
} from '../documents/document-store.ts'
import { CHUNKS_PER_BATCH } from '../documents/documents.ts'
import {
  listUnready,
  nextUnready,
  type RenewJob,
  serveIfReady,
  tidyLater,
  type UnreadyDocument,
} from './serving.ts'

/** Of documents one after the other: then it is their vendor, and not a text. */
const FAILURES_MAX = 20

export type RenewalDeps = Pick<RagDeps, 'db' | 'jobs' | 'log' | 'embedder' | 'vectors'>
type Renewing = RenewalDeps & { embedder: NonNullable<RagDeps['embedder']> }
type Context = Pick<JobContext, 'signal' | 'advanced'>

/** Another node is to do what this one is not set to: it waits for its next try there. @throws where it does */
export function requireOwn(
  { embedder, log }: Pick<RagDeps, 'embedder' | 'log'>,
  job: RenewJob,
  isLastTry: boolean,
): boolean {
  if (embedder?.id === job.embedder) return true
  if (!isLastTry) throw new Error(`${job.embedder} is not the embedder that is set on this node`)
  log.info(
    { embedder: job.embedder },
    'no node has the embedder any more that documents were to be embedded with',
  )
  return false
}

const USERS_A_READ = 200
/** Between two slices, for others' statements. */
const REST_MS = 20

/** The job at the start. @returns how many users went over. @throws the last of what went wrong, when all users have had their turn */
export async function renew(deps: RenewalDeps, context: Context): Promise<number> {
  const { db, embedder, vectors, log } = deps
  // What is there waits: the embedder may come back.
  if (embedder === null) return 0
  let renewed = 0
  let failure: unknown
  for (let after = ''; ; ) {
    const { users, last } = await usersToRenew(db, embedder.id, vectors.name, after)
    for (const userId of users) {
      try {
        await renewUser({ ...deps, embedder }, userId, context)
        renewed++
      } catch (error) {
        context.signal.throwIfAborted()
        log.warn({ err: error, user: userId }, 'the documents of a user could not be embedded anew')
        failure = error
      }
    }
    if (last === null) break
    after = last
  }
  if (failure !== undefined) throw failure
  return renewed
}

/** Of the next users, in the order of their ids, those with a document that is not as it is to be. */
async function usersToRenew(
  db: Db,
  embedder: string,
  keptIn: string,
  after: string,
): Promise<{ users: string[]; last: string | null }> {
  const page = await db
    .selectFrom('rag_stores')
    .select('user_id')
    .where('user_id', '>', after)
    .orderBy('user_id')
    .limit(USERS_A_READ)
    .execute()
  const last = page.at(-1)?.user_id ?? null
  if (last === null) return { users: [], last }
  const rows = await db
    .selectFrom('rag_documents')
    .select('user_id')
    .distinct()
    .where('user_id', '>', after)
    .where('user_id', '<=', last)
    .where((e) =>
      e.or([
        e('embedder', '<>', embedder),
        e('next_embedder', '<>', ''),
        e('kept_in', '<>', keptIn),
      ]),
    )
    .orderBy('user_id')
    .execute()
  return { users: rows.map(({ user_id }) => user_id), last }
}

async function renewUser(deps: Renewing, userId: string, context: Context): Promise<void> {
  const { db, embedder, vectors, log } = deps
  let failure: unknown
  let failures = 0
  let ahead: Ahead = { vectors: new Map(), last: '' }
  for (let after = ''; ; ) {
    const document = await nextUnready(db, userId, embedder.id, vectors.name, after)
    if (document === undefined) {
      if (failure !== undefined) throw failure
      const isDone = await transaction(db, async (tx) => {
        await lockDocuments(tx, userId)
        return serveIfReady(deps, tx, userId, embedder.id)
      })
      if (isDone) return
      continue
    }
    const isElsewhere = document.kept_in !== vectors.name && vectors.has(document.kept_in)
    try {
      if (isElsewhere) await carry(deps, userId, document, context)
      else {
        if (document.id > ahead.last) ahead = await embedAhead(deps, userId, document, context)
        await embedDocument(deps, userId, document, context, ahead)
      }
      failures = 0
    } catch (error) {
      context.signal.throwIfAborted()
      if (++failures === FAILURES_MAX) throw error
      log.warn(
        { err: error, user: userId, document: document.id },
        'a document could not be embedded anew',
      )
      failure = error
      after = document.id
    }
  }
}

/** Vectors of small documents up to the id `last`, by `version/index`: one request for all of them. */
type Ahead = { vectors: Map<string, Float32Array>; last: string }

/** Embeds whole documents from this one on, as many as fit a batch. A refusal leaves none: each is then embedded by itself. */
async function embedAhead(
  { db, embedder, vectors }: Renewing,
  userId: string,
  first: UnreadyDocument,
  { signal }: Context,
): Promise<Ahead> {
  const page = {
    embedder: embedder.id,
    keptIn: vectors.name,
    after: first.id,
    limit: CHUNKS_PER_BATCH,
  }
  const documents: UnreadyDocument[] = []
  let count = 0
  for (const document of [first, ...(await listUnready(db, userId, page))]) {
    count += document.chunks
    // What another store has is carried over.
    if (
      count > CHUNKS_PER_BATCH ||
      (document.kept_in !== vectors.name && vectors.has(document.kept_in))
    )
      break
    documents.push(document)
  }
  const last = documents.at(-1)?.id ?? first.id
  if (documents.length < 2) return { vectors: new Map(), last }

  const chunks: { key: string; content: string }[] = []
  for (const { version, total_chunks } of documents) {
    // Of some the vectors were made before a process was lost.
    const from = (await vectors.lastOf(db, userId, { version, embedder: embedder.id })) + 1
    for (const { index, content } of await readChunks(db, userId, version, from, total_chunks))
      chunks.push({ key: `${version}/${index}`, content })
  }
  const texts = chunks.map(({ content }) => content)
  try {
    const { vectors: made } = await embedder.embed(texts, 'document', signal)
    return { vectors: new Map(chunks.map(({ key }, i) => [key, made[i] as Float32Array])), last }
  } catch {
    signal.throwIfAborted()
    return { vectors: new Map(), last }
  }
}

/** Vectors that lie in a store that is written no more are taken over as they are: no vendor is asked. */
async function carry(
  { db, jobs, vectors, embedder: { id: making } }: Renewing,
  userId: string,
  document: UnreadyDocument,
  { signal, advanced }: Context,
): Promise<void> {
  const { id, version, edition, embedder, next_embedder, kept_in } = document
  for (const name of [embedder, next_embedder]) {
    if (name === '') continue
    for (let rows = 1; rows > 0; ) {
      signal.throwIfAborted()
      rows = await transaction(db, async (tx) => {
        await lockDocuments(tx, userId)
        if (!(await isAsRead(tx, userId, document))) return 0
        const carried = await vectors.carrySlice(
          tx,
          userId,
          { version, embedder: name },
          kept_in,
          CHUNKS_PER_BATCH,
        )
        if (carried > 0) await advanced(tx)
        return carried
      })
    }
  }
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    if (!(await isAsRead(tx, userId, { id, version, edition }))) return
    await updateDocument(tx, userId, id, { kept_in: vectors.name })
    await bumpRevision(tx, userId)
    await tidyLater({ jobs }, tx, { userId, embedder: making })
  })
}

/** Goes on behind the last chunk that has a vector. A document that is replaced or cut meanwhile is left, and looked at anew. */
async function embedDocument(
  { db, embedder, vectors }: Renewing,
  userId: string,
  document: UnreadyDocument,
  { signal, advanced }: Context,
  ahead: Ahead,
): Promise<void> {
  const { id, version, chunks: whole, total_chunks: total, kept_in } = document
  const set = { version, embedder: embedder.id }
  const begun = (await vectors.lastOf(db, userId, set)) + 1
  for (let from = begun; from < total; from += CHUNKS_PER_BATCH) {
    const chunks = await readChunks(db, userId, version, from, from + CHUNKS_PER_BATCH)
    if (chunks.length === 0) continue
    const known = chunks.flatMap(({ index }) => ahead.vectors.get(`${version}/${index}`) ?? [])
    const texts = chunks.map(({ content }) => content)
    const made =
      known.length === chunks.length
        ? known
        : (await embedder.embed(texts, 'document', signal)).vectors
    const isKept = await transaction(db, async (tx) => {
      await lockDocuments(tx, userId)
      if (!(await isAsRead(tx, userId, document))) return false
      const rows = chunks.map(({ index }, i) => ({ index, vector: made[i] as Float32Array }))
      await vectors.insert(tx, userId, set, rows)
      await advanced(tx)
      return true
    })
    if (!isKept) return
    await sleep(REST_MS, null, { signal })
  }
  const isLacking = await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    if (!(await isAsRead(tx, userId, document))) return false
    // A node that is set to another embedder may have tidied them away.
    if ((await vectors.count(tx, userId, set)) < whole) return true
    // What lies in a store that this database has no more is lost.
    const isLost = kept_in !== '' && kept_in !== vectors.name
    await updateDocument(tx, userId, id, {
      next_embedder: embedder.id,
      kept_in: vectors.name,
      ...(isLost ? { embedder: '' } : {}),
    })
    return false
  })
  if (!isLacking) return
  const serving = document.embedder === embedder.id ? '' : document.embedder
  while ((await vectors.dropSlice(db, userId, version, serving)) >= SLICE_ROWS)
    signal.throwIfAborted()
  throw new Error('some vectors of a document were lost while the others were made')
}

async function isAsRead(
  tx: Db,
  userId: string,
  { id, version, edition }: Pick<UnreadyDocument, 'id' | 'version' | 'edition'>,
): Promise<boolean> {
  const now = await findDocument(tx, userId, id)
  return now?.version === version && now.edition === edition
}
