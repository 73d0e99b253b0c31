// Statements that cannot run in a transaction and may take long (`create index concurrently`): on a
// separate connection without the usual time limits.
import { lazyRequire } from '../lazy-require.ts'
import { readPoolConfig } from './postgres.ts'

const pg = lazyRequire<typeof import('pg')>('pg')

/**
 * Runs the statements while holding a lock on `name`, so that one connection at a time does this
 * work, on any number of nodes. The server releases the lock with the connection, which may outlive
 * its node: statements of a killed node continue. Callers do not wait for the lock. `create index
 * concurrently` waits for every running statement, so two callers would wait for each other.
 * @throws the server's error, and an error when another connection holds the lock
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
  // A statement that runs while the connection breaks returns the error itself.
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
