// Random histories of subscriptions and purchases under lost, doubled, delayed and reordered events, a failing processor and kill -9;
// then one reconciliation, after which nothing may differ from what the processor has on record.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../src/migrations.ts'
import { randomOf } from '../src/testing/billing-chaos/random.ts'
import { migratedDatabase } from '../src/testing/database.ts'
import type { Life } from './billing-chaos/child.ts'
import { printTable } from './lib/table.ts'

export const says = 'random histories of money under chaos and kill -9: [COUNT] [SEED]; PostgreSQL at TEST_DATABASE_URL'

const HISTORIES_A_WORLD = 50
const LIVES = 3
const STEPS_A_LIFE = 4
const KILLED_WITHIN_MS = 15_000

type Told = {
  told: { events: number; lost: number; faults: number }
  done: { events: number; mended: number } | null
  wrong: string[]
}

export async function run([count = '1000', first]: string[]): Promise<void> {
  const seed = first === undefined ? Math.floor(Math.random() * 1e6) : Number(first)
  const worlds = Math.ceil(Number(count) / HISTORIES_A_WORLD)
  const engine = process.env.TEST_DATABASE_URL ? 'PostgreSQL' : 'SQLite'
  const rows: string[][] = []
  let wrong = 0
  for (let world = 0; world < worlds; world++) {
    const { told, done, wrong: differing } = await playWorld(seed + world)
    rows.push([
      String(seed + world),
      String(HISTORIES_A_WORLD),
      `${told.events} (${told.lost} lost) in the last life`,
      `${done?.events} events, ${done?.mended} rows`,
      differing.length === 0 ? '0' : differing.join('; '),
    ])
    console.log(`  ${rows.at(-1)?.join('  ')}`)
    wrong += differing.length
  }
  printTable(
    `${worlds * HISTORIES_A_WORLD} histories on ${engine}, each world killed ${LIVES - 1} times`,
    ['seed', 'histories', 'events', 'found afterwards', 'differ'],
    rows,
  )
  console.log(wrong === 0 ? '\n  Nothing differs.' : `\n  ${wrong} DIFFER`)
  process.exitCode = wrong === 0 ? 0 : 1
}

async function playWorld(seed: number): Promise<Told> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-chaos-'))
  const database = await migratedDatabase(dataDir, migrations)
  const random = randomOf(seed)
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
      const told = await live({ ...story, isLast }, isLast ? null : random.next() * KILLED_WITHIN_MS)
      if (isLast) return JSON.parse(told) as Told
    }
  } finally {
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** What it printed; nothing when it was killed. */
async function live(life: Life, killedAfterMs: number | null): Promise<string> {
  const script = join(import.meta.dirname, 'billing-chaos', 'child.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(life)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.on('data', (chunk) => {
    told += chunk
  })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (killedAfterMs !== null) {
    await new Promise((resolve) => setTimeout(resolve, killedAfterMs))
    child.kill('SIGKILL')
  }
  const code = await exit
  if (killedAfterMs === null && code !== 0) throw new Error(`the last life of seed ${life.seed} ended with ${code}`)
  return told
}
