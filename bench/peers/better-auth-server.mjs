// The peer's server, as its documentation describes it: better-auth on node:sqlite behind
// node:http, without limits.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'

const [port, path] = process.argv.slice(2)
const database = new DatabaseSync(path)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
const options = {
  database,
  baseURL: `http://127.0.0.1:${port}`,
  secret: 'a secret of this measurement alone, long enough',
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: 'error' },
}
const { runMigrations } = await getMigrations(options)
await runMigrations()
const handle = toNodeHandler(betterAuth(options))
createServer((request, response) => void handle(request, response)).listen(
  Number(port),
  '127.0.0.1',
  () => console.log('up'),
)
