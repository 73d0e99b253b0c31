// Runs the service under chaos from the state that the previous life left, until it is killed. The
// last life reconciles and reports the differences.
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

// The processor's timestamps use this clock, so a later life must continue from its time.
const clockFile = join(dataDir, 'moved-ms')
const { advance } = app.clock
app.clock.advance = (ms) => {
  advance(ms)
  writeFileSync(clockFile, String(app.clock.movedMs?.()))
}
try {
  app.clock.advance(Number(readFileSync(clockFile, 'utf8')))
} catch {
  // The first life has no saved clock.
}

// The parent may kill the process from here on.
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
