// Which database a test runs on: SQLite unless TEST_DATABASE_URL names a PostgreSQL server, or TEST_ENGINE=pglite asks for the embedded one.
import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Several connections at once, and a clock of its own. */
export const ON_POSTGRES = Boolean(process.env.TEST_DATABASE_URL) || process.env.TEST_ENGINE === 'pglite'

export type FreshDatabase = { url: string | null; drop(): Promise<void> }

/** An empty place of the test's own; a null address means SQLite in the test's own folder. */
export async function freshDatabaseUrl(): Promise<FreshDatabase> {
  if (process.env.TEST_DATABASE_URL) return onServer(process.env.TEST_DATABASE_URL)
  if (process.env.TEST_ENGINE === 'pglite') return onPglite()
  return { url: null, drop: async () => {} }
}

/** A schema of its own: quicker than a database of its own, and as separate. */
async function onServer(serverUrl: string): Promise<FreshDatabase> {
  const schema = `test_${randomBytes(8).toString('hex')}`
  await withServer(serverUrl, (client) => client.query(`create schema ${schema}`))
  const url = new URL(serverUrl)
  url.searchParams.set('search_path', `${schema},public`)
  url.searchParams.set('max', '4')
  return { url: url.href, drop: () => withServer(serverUrl, (client) => client.query(`drop schema ${schema} cascade`)) }
}

async function withServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

let pglite: Promise<{ url: string; reset(): Promise<void> }> | null = null

/** One engine a process, wiped between tests: it takes a second and 600 MB to start. */
async function onPglite(): Promise<FreshDatabase> {
  pglite ??= startPglite()
  const { url, reset } = await pglite
  await reset()
  return { url, drop: async () => {} }
}

async function startPglite() {
  const [{ PGlite }, { PGLiteSocketServer }, { vector }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-socket'),
    import('@electric-sql/pglite-pgvector'),
  ])
  const db = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 8 })
  await server.start()
  const port = Number(server.getServerConn().split(':').at(-1))
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres?max=1`,
    // One backend serves every connection: statements that an earlier test prepared would be planned anew with each change of
    // schema, and there are thousands of them in the end.
    reset: async () =>
      void (await db.exec(
        'deallocate all; drop schema public cascade; create schema public; create extension if not exists vector with schema public',
      )),
  }
}
