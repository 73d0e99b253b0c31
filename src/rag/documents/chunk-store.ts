/** SQL of chunks. A chunk is found only through a document that names the chunk's version. */
import { type CompiledQuery, sql } from 'kysely'
import { type Db, type Dialect, findDialect } from '#platform/db/db.ts'
import { deleteSlice } from '#platform/db/slices.ts'
import type { PageStart } from '../tables.ts'

/** A chunk's place in its document. */
export type ChunkPlace = {
  /** Offset in the text, in UTF-16 units. */
  start: number
  /** The white space before the chunk that no chunk contains. */
  gap: string
  /** The pages on which the chunk starts and ends, from 1. */
  page: number | null
  pageEnd: number | null
  /** The pages that begin inside it. */
  pageStarts: PageStart[]
  /** The headings above the chunk: `Terms › Notice`. */
  heading: string | null
  /** The header of the table that the chunk continues, as Markdown. */
  tableHeader: string | null
}
export type Chunk = ChunkPlace & { index: number; content: string }

/** SQLite accepts 32,766 parameters per statement, PostgreSQL 65,535. */
const ROWS_A_STATEMENT = 200

export async function insertChunks(
  tx: Db,
  userId: string,
  version: string,
  rows: Chunk[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    await tx
      .insertInto('rag_chunks')
      .values(
        rows
          .slice(from, from + ROWS_A_STATEMENT)
          .map(
            ({ index, content, start, gap, page, pageEnd, pageStarts, heading, tableHeader }) => ({
              user_id: userId,
              version,
              chunk_index: index,
              content,
              start_offset: start,
              gap,
              page,
              page_end: pageEnd,
              page_starts_json: pageStarts,
              heading,
              table_header: tableHeader,
            }),
          ),
      )
      .execute()
  }
}

function selectChunks(db: Db, userId: string, version: string) {
  return db.selectFrom('rag_chunks').where('user_id', '=', userId).where('version', '=', version)
}

export function readChunk(db: Db, userId: string, version: string, index: number) {
  return selectChunks(db, userId, version)
    .select(['chunk_index', 'content'])
    .where('chunk_index', '=', index)
    .executeTakeFirst()
}

export async function readChunks(
  db: Db,
  userId: string,
  version: string,
  from: number,
  to: number,
): Promise<Chunk[]> {
  const rows = await db
    .selectFrom('rag_chunks')
    .select([
      'chunk_index as index',
      'content',
      'start_offset as start',
      'gap',
      'page',
      'page_end as pageEnd',
      'page_starts_json',
      'heading',
      'table_header as tableHeader',
    ])
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .where('chunk_index', '>=', from)
    .where('chunk_index', '<', to)
    .orderBy('chunk_index')
    .execute()
  return rows.map(({ page_starts_json: pageStarts, ...chunk }) => ({ ...chunk, pageStarts }))
}

/** Returns the places of at most `limit` chunks from index `from` on. */
export async function listSpans(
  db: Db,
  userId: string,
  version: string,
  from: number,
  limit: number,
) {
  const rows = await selectChunks(db, userId, version)
    .select(['chunk_index', 'start_offset', 'content', 'page', 'page_end', 'heading'])
    .where('chunk_index', '>=', from)
    .orderBy('chunk_index')
    .limit(limit)
    .execute()
  return rows.map(({ chunk_index: index, start_offset: start, content, ...place }) => ({
    index,
    start,
    end: start + content.length,
    ...place,
  }))
}

/** Returns the chunks of several versions with the texts that the word index needs. */
export function readIndexedTexts(
  db: Db,
  userId: string,
  versions: string[],
  from: number,
  to: number,
) {
  return db
    .selectFrom('rag_chunks')
    .select([
      'version',
      'chunk_index as index',
      'content',
      'heading',
      'table_header as tableHeader',
    ])
    .where('user_id', '=', userId)
    .where('version', 'in', versions)
    .where('chunk_index', '>=', from)
    .where('chunk_index', '<', to)
    .orderBy('version')
    .orderBy('chunk_index')
    .execute()
}

/** Returns which chunks from `from` up to, not including, `to` exist. */
export async function listChunkIndexes(
  db: Db,
  userId: string,
  version: string,
  from: number,
  to: number,
): Promise<number[]> {
  const rows = await selectChunks(db, userId, version)
    .select('chunk_index')
    .where('chunk_index', '>=', from)
    .where('chunk_index', '<', to)
    .execute()
  return rows.map(({ chunk_index }) => chunk_index)
}

/** The parts of a chunk that a search returns. */
export type ChunkText = Pick<Chunk, 'content' | 'page' | 'pageEnd' | 'heading' | 'tableHeader'>

/** Returns the contents of chunks by `version/index`. */
export async function readContents(
  db: Db,
  userId: string,
  chunks: { version: string; index: number }[],
): Promise<Map<string, ChunkText>> {
  if (chunks.length === 0) return new Map()
  const requested = JSON.stringify(chunks.map(({ version, index }) => ({ version, index })))
  const dialect = findDialect(db)
  contentsQueries[dialect] ??= buildContentsQuery(db, dialect).compile()
  const { rows } = await db.executeQuery<ChunkText & ChunkName>({
    ...contentsQueries[dialect],
    parameters: [requested, userId],
  })
  return new Map(rows.map(({ version, index, ...chunk }) => [`${version}/${index}`, chunk]))
}

type ChunkName = { version: string; index: number }

/** Compiled once for any number of chunks: building takes longer than SQLite needs to run it. */
const contentsQueries: Partial<Record<Dialect, CompiledQuery<ChunkText & ChunkName>>> = {}

function buildContentsQuery(db: Db, dialect: Dialect) {
  return dialect === 'postgres' ? buildServerQuery(db) : buildEmbeddedQuery(db)
}

const CONTENT = [
  'content',
  'page',
  'page_end as pageEnd',
  'heading',
  'table_header as tableHeader',
] as const

/** Reads each chunk by its key; for a plain join, the planner may scan all of a large user. */
function buildServerQuery(db: Db) {
  const requested = sql<ChunkName>`jsonb_to_recordset(${''}::jsonb)`
  return db
    .selectFrom(requested.as<'requested'>(sql`requested (version text, index bigint)`))
    .crossJoinLateral((e) =>
      e
        .selectFrom('rag_chunks')
        .select(CONTENT)
        .where('user_id', '=', '')
        .whereRef('version', '=', 'requested.version')
        .whereRef('chunk_index', '=', 'requested.index')
        .limit(sql.lit(1))
        .as('chunk'),
    )
    .selectAll()
}

/** The cross join makes SQLite start with the requested chunks. */
function buildEmbeddedQuery(db: Db) {
  const requested = sql<ChunkName>`(select value ->> 'version' as version, value ->> 'index' as "index" from json_each(${''}))`
  return db
    .selectFrom(requested.as('requested'))
    .crossJoin('rag_chunks as chunk')
    .select(['requested.version', 'requested.index', ...CONTENT])
    .where('chunk.user_id', '=', '')
    .whereRef('chunk.version', '=', 'requested.version')
    .whereRef('chunk.chunk_index', '=', 'requested.index')
}

/** Returns the texts of whole documents for the export: their chunks in order. */
export async function readTexts(
  db: Db,
  userId: string,
  ids: string[],
): Promise<{ id: string; chunks: { id: string; content: string }[] }[]> {
  const texts: { id: string; chunks: { id: string; content: string }[] }[] = []
  for (const id of ids) {
    const rows = await db
      .selectFrom('rag_documents')
      .innerJoin('rag_chunks', (join) =>
        join
          .onRef('rag_chunks.user_id', '=', 'rag_documents.user_id')
          .onRef('rag_chunks.version', '=', 'rag_documents.version'),
      )
      .select(['chunk_index', 'content'])
      .where('rag_documents.user_id', '=', userId)
      .where('rag_documents.id', '=', id)
      .orderBy('chunk_index')
      .execute()
    texts.push({
      id,
      chunks: rows.map(({ chunk_index, content }) => ({ id: `${id}_${chunk_index}`, content })),
    })
  }
  return texts
}

/** @returns how many chunks were deleted */
export async function deleteChunks(
  tx: Db,
  userId: string,
  version: string,
  indexes: number[] | null,
): Promise<number> {
  let query = tx
    .deleteFrom('rag_chunks')
    .where('user_id', '=', userId)
    .where('version', '=', version)
  if (indexes !== null) query = query.where('chunk_index', 'in', indexes)
  const { numDeletedRows } = await query.executeTakeFirst()
  return Number(numDeletedRows)
}

/** Returns the next chunks of a version, so that a large version is deleted in slices. */
export async function listNextIndexes(
  tx: Db,
  userId: string,
  version: string,
  limit: number,
): Promise<number[]> {
  const rows = await selectChunks(tx, userId, version).select('chunk_index').limit(limit).execute()
  return rows.map(({ chunk_index }) => chunk_index)
}

/** Erases chunks of a deleted user. @returns how many rows were deleted */
export function eraseChunksSlice(db: Db, userId: string): Promise<number> {
  const key = ['version', 'chunk_index']
  return deleteSlice(db, 'rag_chunks', key, sql`user_id = ${userId}`)
}
