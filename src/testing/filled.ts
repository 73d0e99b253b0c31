/**
 * The data folder of a service on SQLite that was stopped: `node filled.ts FOLDER used` walks
 * through the whole product over HTTP before, `node filled.ts FOLDER unused` does nothing. `npm
 * test -- --copied` copies both to PostgreSQL.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { DAY_MS } from '#platform/clock.ts'
import { type TestApp, testApp } from './app.ts'
import { walkEverything } from './example-walk.ts'

/** Names that no test gives. */
const PREFIX = 'before-'
/** Early enough to precede the start of every test. */
const AGO_MS = 3 * DAY_MS

/** Of this process: tokens from outside are looked at by its clock, not by the service's. */
function setClockBack(ms: number): void {
  const now = Date.now.bind(Date)
  const Real = Date
  globalThis.Date = class extends Real {
    constructor(...parts: number[]) {
      super(...((parts.length > 0 ? parts : [now() - ms]) as [number]))
    }
    static override now = () => now() - ms
  } as typeof Date
}

async function fill(dataDir: string, isUsed: boolean): Promise<void> {
  const endings: (() => unknown)[] = []
  const t = { after: (ending: () => unknown) => void endings.unshift(ending) } as never
  const app = await testApp(t, {
    env: { DEBUG: 'true', DATABASE_URL: '' },
    onData: { dataDir, databaseUrl: null },
  })
  if (isUsed) {
    await walkEverything(t, { on: app, prefix: PREFIX })
    await leaveWork(app)
    // The creation of the first superuser is tested on a service without one.
    await sql`update users set is_superuser = ${false} where is_superuser`.execute(app.platform.db)
  }
  for (const ending of endings) await ending()
  // External services do not know unused users.
  if (!isUsed) rmSync(join(dataDir, 'sandbox.db'))
}

/** A letter that is not handed over, a document that is not read. */
async function leaveWork(app: TestApp): Promise<void> {
  const late = await app.as(`${PREFIX}late`, { tier: 'pro' })
  const queued = { content: 'What is stored after the copy.', external_id: 'late-1' }
  const { status, text } = await late.post('/api/rag/ingest/text', queued, {
    headers: { prefer: 'respond-async' },
  })
  if (status !== 202) throw new Error(text)
}

if (import.meta.main) {
  const [folder = '', kind] = process.argv.slice(2)
  setClockBack(AGO_MS)
  await fill(folder, kind === 'used')
  process.exit()
}
