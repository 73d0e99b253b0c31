// Plays random histories of subscriptions and purchases under lost, doubled, delayed and reordered
// events, a failing processor and kill -9. After one reconciliation, nothing may differ from the
// processor's records. `thieves` plays a year of users who try to use more of the models than they
// pay for.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../src/app/migrations.ts'
import { testApp } from '../src/testing/app.ts'
import { createRandom } from '../src/testing/billing-chaos/random.ts'
import { playThieves, THIEVES_A_BLOCK } from '../src/testing/billing-chaos/thief.ts'
import { chaosCatalogue } from '../src/testing/billing-chaos/world.ts'
import { migratedDatabase } from '../src/testing/database.ts'
import type { Life } from './billing-chaos/child.ts'
import { printTable } from './lib/table.ts'

export const description =
  'payment histories under lost events and kill -9: [COUNT] [SEED]; users who try to overspend: thieves [COUNT] [SEED]; PostgreSQL at TEST_DATABASE_URL'

const HISTORIES_A_WORLD = 50
const LIVES = 3
const STEPS_A_LIFE = 4
/** Longest time between the first event of a life and its kill. */
const KILLED_WITHIN_MS = 15_000
/** From this many histories on, each kind of event must occur at least once. */
const MANY = 500

type Told = {
  told: { events: number; lost: number; faults: number }
  done: { events: number; repaired: number } | null
  befell: Record<string, number>
  wrong: string[]
}

export async function run(args: string[]): Promise<void> {
  if (args[0] === 'thieves') return runThiefYears(args.slice(1))
  await playHistories(args)
  await runThiefYears(args)
}

const ROUNDS_A_YEAR = 16

/** Checks that the cost of each customer's calls never exceeds what their payments bought. */
async function runThiefYears([count = '1000', first]: string[]): Promise<void> {
  const firstSeed = first === undefined ? Math.floor(Math.random() * 1e6) : Number(first)
  const seeds = Array.from({ length: Number(count) }, (_, index) => firstSeed + index)
  const blocks = Map.groupBy(seeds, (seed) => Math.floor(seed / THIEVES_A_BLOCK))
  const rows: string[][] = []
  let wrong = 0
  for (const block of blocks.values()) {
    const cpuBefore = process.cpuUsage()
    const endings: (() => Promise<void>)[] = []
    const context = { after: (work: unknown) => void endings.unshift(work as () => Promise<void>) }
    const app = await testApp(context, { env: chaosCatalogue(context) })
    const result = await playThieves(app, { seeds: block, rounds: ROUNDS_A_YEAR })
    for (const end of endings) await end()
    const { user, system } = process.cpuUsage(cpuBefore)
    rows.push([
      `${block[0]}–${block.at(-1)}`,
      `$${result.bought.toFixed(0)}`,
      `$${result.spent.toFixed(0)}`,
      String(result.calls),
      String(result.refused),
      ((user + system) / 1e6 / block.length).toFixed(2),
      result.wrong.join('; ') || '0',
    ])
    console.log(`  ${rows.at(-1)?.join('  ')}`)
    if (result.wrong.length > 0)
      console.log(
        `  OVERSPENT; repeat with: npm run bench -- billing-chaos thieves ${block.length} ${block[0]}`,
      )
    wrong += result.wrong.length
  }
  printTable(
    `${seeds.length} years of users who try to overspend, on ${ENGINE}`,
    ['seeds', 'bought', 'spent', 'calls', 'refused', 'CPU s per year', 'overspent'],
    rows,
  )
  console.log(wrong === 0 ? '\n  No user spent more than they bought.' : `\n  ${wrong} OVERSPENT`)
  if (wrong > 0) process.exitCode = 1
}

const ENGINE = process.env.TEST_DATABASE_URL ? 'PostgreSQL' : 'SQLite'

async function playHistories([count = '1000', first]: string[]): Promise<void> {
  const seed = first === undefined ? Math.floor(Math.random() * 1e6) : Number(first)
  const worlds = Math.ceil(Number(count) / HISTORIES_A_WORLD)
  const rows: string[][] = []
  const befell = new Map<string, number>()
  let wrong = 0
  for (let world = 0; world < worlds; world++) {
    const { told, done, wrong: differing, befell: found } = await playWorld(seed + world)
    rows.push([
      String(seed + world),
      String(HISTORIES_A_WORLD),
      `${told.events} (${told.lost} lost) in the last life`,
      `${done?.events} events, ${done?.repaired} rows`,
      differing.length === 0 ? '0' : differing.join('; '),
    ])
    console.log(`  ${rows.at(-1)?.join('  ')}`)
    wrong += differing.length
    for (const [what, times] of Object.entries(found))
      befell.set(what, (befell.get(what) ?? 0) + times)
    if (differing.length > 0)
      console.log(
        `  DIFFERS; repeat with: npm run bench -- billing-chaos ${HISTORIES_A_WORLD} ${seed + world}`,
      )
  }
  printTable(
    `${worlds * HISTORIES_A_WORLD} histories on ${ENGINE}, each world killed ${LIVES - 1} times`,
    ['seed', 'histories', 'events', 'repaired by the reconciliation', 'differ'],
    rows,
  )
  printTable(
    'Events that occurred',
    ['', 'times'],
    [...befell].map(([what, times]) => [what, String(times)]),
  )
  const never =
    worlds * HISTORIES_A_WORLD < MANY ? [] : [...befell].filter(([, times]) => times === 0)
  if (never.length > 0) console.log(`\n  NEVER HAPPENED: ${never.map(([what]) => what).join(', ')}`)
  console.log(wrong === 0 ? '\n  Nothing differs.' : `\n  ${wrong} DIFFER`)
  process.exitCode = wrong === 0 && never.length === 0 ? 0 : 1
}

async function playWorld(seed: number): Promise<Told> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-chaos-'))
  const database = await migratedDatabase(dataDir, migrations)
  const random = createRandom(seed)
  try {
    for (let life = 0; ; life++) {
      const isLast = life === LIVES - 1
      const story = {
        dataDir,
        databaseUrl: database.url,
        seed,
        life,
        histories: HISTORIES_A_WORLD,
        steps: STEPS_A_LIFE,
      }
      const output = await runLife(
        { ...story, isLast },
        isLast ? null : random.next() * KILLED_WITHIN_MS,
      )
      if (isLast) return JSON.parse(output) as Told
    }
  } finally {
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Runs one life of the service. Returns the child's output; empty when the child was killed. */
async function runLife(life: Life, killedAfterMs: number | null): Promise<string> {
  const script = join(import.meta.dirname, 'billing-chaos', 'child.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  const begun = Promise.withResolvers<void>()
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.startsWith(BEGUN)) begun.resolve()
  })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (killedAfterMs !== null) {
    await Promise.race([begun.promise, exit])
    await new Promise((resolve) => setTimeout(resolve, killedAfterMs))
    child.kill('SIGKILL')
  }
  const code = await exit
  if (killedAfterMs === null && code !== 0)
    throw new Error(`the last life of seed ${life.seed} ended with ${code}`)
  return output.slice(BEGUN.length)
}

const BEGUN = 'begun\n'
