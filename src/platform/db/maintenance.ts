// Statements that no transaction may hold and that take as long as they take (`create index concurrently`): on a connection of their own,
// without the limits of all others.
import { lazyRequire } from '../lazy-require.ts'
import { settingsOf } from './postgres.ts'

const pg = lazyRequire<typeof import('pg')>('pg')

/** One after the other. @throws the server's own error */
export async function runMaintenance(url: string, statements: readonly string[]): Promise<void> {
  const client = new (pg().Client)({
    ...settingsOf(url),
    connectionTimeoutMillis: 5_000,
    application_name: 'latchkey maintenance',
  })
  // Told by the statement that it ends.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('set statement_timeout = 0')
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end().catch(() => {})
  }
}
