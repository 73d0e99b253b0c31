// One life of the service under chaos: goes on with what an earlier one left, until it is killed; the last one reconciles and tells what
// differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testApp } from '../../src/testing/app.ts'
import { census, differences } from '../../src/testing/billing-chaos/truth.ts'
import { chaosCatalogue, playChaos, reconcileAll } from '../../src/testing/billing-chaos/world.ts'

export type Life = {
  dataDir: string
  databaseUrl: string | null
  seed: number
  life: number
  histories: number
  steps: number
  isLast: boolean
}

const { dataDir, databaseUrl, seed, life, histories, steps, isLast } = JSON.parse(
  process.argv[2] ?? '',
) as Life
const endings: (() => Promise<void>)[] = []
const context = { after: (work: unknown) => void endings.push(work as () => Promise<void>) }
const app = await testApp(context, {
  env: chaosCatalogue(context),
  onData: { dataDir, databaseUrl },
  worker: true,
})

// The processor's times are of this clock: a later life must not fall behind them.
const clockFile = join(dataDir, 'moved-ms')
const { advance } = app.clock
app.clock.advance = (ms) => {
  advance(ms)
  writeFileSync(clockFile, String(app.clock.movedMs?.()))
}
try {
  app.clock.advance(Number(readFileSync(clockFile, 'utf8')))
} catch {
  // The first life.
}

// From here on it may be killed.
process.stdout.write('begun\n')
const name = `chaos-${seed}`
const outcome = await playChaos(app, { seed: seed * 10 + life, histories, steps, name })
if (!isLast) await new Promise(() => {})
const done = await reconcileAll(app)
process.stdout.write(
  JSON.stringify({
    told: outcome,
    done,
    befell: await census(app),
    wrong: await differences(app, name),
  }),
)
for (const end of endings) await end()
process.exit()
