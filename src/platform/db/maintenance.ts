// Statements that cannot run in a transaction and may take long (`create index concurrently`): on a
// separate connection without the usual time limits.
import { lazyRequire } from '../lazy-require.ts'
import { readPoolConfig } from './postgres.ts'

const pg = lazyRequire<typeof import('pg')>('pg')

/**
 * `name`: what is worked on, by one connection at a time, however many nodes there are. The server
 * lets go of it with the connection, and that may be after the node's end: what a killed node has
 * begun goes on. Callers do not wait for it, because `create index concurrently` waits for every
 * running statement, and each would wait for the other.
 * @throws the server's error, and where another connection works on it
 */
export async function withMaintenance<T>(
  url: string,
  name: string,
  work: (run: (statement: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const client = new (pg().Client)({
    ...readPoolConfig(url),
    connectionTimeoutMillis: 5_000,
    application_name: 'latchkey maintenance',
  })
  // Called when the statement ends.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('set statement_timeout = 0')
    const locked = await client.query<{ mine: boolean }>(
      "select pg_try_advisory_lock(hashtextextended(current_schema() || '.' || $1, 0)) as mine",
      [name],
    )
    if (!locked.rows[0]?.mine) throw new Error(`${name} is worked on by another connection`)
    return await work(async (statement) => void (await client.query(statement)))
  } finally {
    await client.end().catch(() => {})
  }
}
