// Measures dense search in pgvector by the number of a user's chunks: exact, and with the user's
// HNSW index, including its recall.
import { sql } from 'kysely'
import { migrations } from '#app/migrations.ts'
import { insertUser } from '#identity/users.ts'
import type { Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import { dropIndexes, makeIndex } from '#rag/search/stores/hnsw.ts'
import { openPgvector } from '#rag/search/stores/pgvector.ts'
import { printTable, quantile } from './lib/table.ts'

export const description =
  'vector search in pgvector, exact and by index: time and recall; DATABASE_URL names an empty database'

const DIMS = 1_536
const SIZES = [1_000, 6_500, 20_000]
const SEARCHES = 50
const COUNT = 50
const ROWS_A_STATEMENT = 250

export async function run([
  url = process.env.DATABASE_URL ?? '',
  ...sizes
]: string[]): Promise<void> {
  if (!url.startsWith('postgres'))
    throw new Error('usage: npm run bench -- vectors postgres://… [CHUNKS…]')
  const { db, close } = openDatabase({ databaseUrl: url, dataDir: '' })
  await migrate(db, migrations, new Date().toISOString())
  const exact = await openPgvector({ db }, { exactMax: Number.MAX_SAFE_INTEGER })
  const indexed = await openPgvector({ db }, { exactMax: 0 })
  if (!exact || !indexed) throw new Error('the server lacks pgvector 0.7 or later: install it')
  const draw = drawer()
  const rows: string[][] = []
  try {
    for (const size of sizes.length > 0 ? sizes.map(Number) : SIZES) {
      const userId = await createOwner(db, `${size}@example.com`, 'bench/one', size)
      const of = { userId, embedder: 'bench/one', dims: DIMS }
      for (let from = 0; from < size; from += ROWS_A_STATEMENT) {
        const count = Math.min(ROWS_A_STATEMENT, size - from)
        const some = Array.from({ length: count }, (_, i) => ({ index: from + i, vector: draw() }))
        await exact.insert(db, of.userId, { version: 'v', embedder: of.embedder }, some)
      }
      await sql`analyze rag_halfvecs`.execute(db)
      const scope = { documents: [{ version: 'v', edition: 0, totalChunks: size }], conditions: [] }
      const questions = Array.from({ length: SEARCHES }, draw)
      const search = async (store: typeof exact) => {
        const times: number[] = []
        const found: Set<number>[] = []
        for (const question of questions) {
          const started = performance.now()
          const near = await store.nearest(of.userId, of.embedder, question, scope, COUNT)
          times.push(performance.now() - started)
          found.push(new Set(near.map(({ index }) => index)))
        }
        times.sort((a, b) => a - b)
        return { times, found }
      }
      const exactResult = await search(exact)
      const started = performance.now()
      await makeIndex(db, url, of)
      const madeMs = performance.now() - started
      const indexResult = await search(indexed)
      const shared = exactResult.found.reduce(
        (sum, set, i) => sum + set.intersection(indexResult.found[i] ?? new Set()).size,
        0,
      )
      const formatTimes = ({ times }: typeof exactResult) =>
        [0, 0.5, 0.99].map((share) => `${quantile(times, share).toFixed(1)}`).join(' / ')
      rows.push([
        String(size),
        formatTimes(exactResult),
        formatTimes(indexResult),
        (shared / (COUNT * SEARCHES)).toFixed(4),
        `${(madeMs / 1_000).toFixed(1)} s`,
      ])
      await dropIndexes(db, of.userId, '')
    }
  } finally {
    await close()
  }
  printTable(
    `${DIMS} dimensions, ${COUNT} nearest, ${SEARCHES} searches: ms, minimum / p50 / p99`,
    ['chunks', 'exact', 'by index', 'recall', 'index build time'],
    rows,
  )
}

/**
 * Creates a user with one document, because an index belongs to a document's vectors. Returns the
 * id.
 */
async function createOwner(
  db: Db,
  email: string,
  embedder: string,
  chunks: number,
): Promise<string> {
  const now = new Date().toISOString()
  const { id } = await insertUser(db, { email, full_name: null, password_hash: null }, now)
  await db
    .insertInto('rag_documents')
    .values({
      user_id: id,
      id: 'v',
      version: 'v',
      edition: 0,
      source: null,
      metadata_json: {},
      chunks,
      total_chunks: chunks,
      characters: 1,
      embedder,
      original_id: null,
      created_at: now,
    })
    .execute()
  return id
}

/**
 * Draws points around 200 centres in 48 dimensions, projected to the full number: about as close
 * together as embeddings of texts.
 */
function drawer(): () => Float32Array {
  let state = 7
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  const many = (count: number, length: number) =>
    Array.from({ length: count }, () => Float32Array.from({ length }, normal))
  const axes = many(48, DIMS)
  const centres = many(200, 48)
  return () => {
    const centre = centres[Math.floor(uniform() * centres.length)] as Float32Array
    const vector = new Float32Array(DIMS)
    for (const [k, axis] of axes.entries()) {
      const along = (centre[k] as number) + 0.7 * normal()
      for (let i = 0; i < DIMS; i++) vector[i] = (vector[i] as number) + along * (axis[i] as number)
    }
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }
}
