// Measures the time until the service answers, its CPU until then, and its idle memory, alternating
// with the first version on one machine in one run. Limits: 1.5 s for a start after the first, 160
// MB, and at most the CPU and memory of the first version.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const description =
  'time, CPU and memory of a start, compared with the first version and with limits'

const ROOT = join(import.meta.dirname, '..')
const FIRST_REVISION = 'a5be790'
// Not in node_modules, where Node does not run TypeScript.
const FIRST_ROOT = join(tmpdir(), `latchkey-${FIRST_REVISION}`)

const STARTS = 7
const IDLE_MS = 5_000

type Start = { wallMs: number; cpuMs: number; idleMb: number }

export async function run(): Promise<void> {
  checkOutFirst()
  const now = createStarter({ root: ROOT })
  const first = createStarter({ root: FIRST_ROOT })
  try {
    // The first start creates the database and fills the compile cache.
    for (let round = 0; round <= STARTS; round++)
      for (const version of [now, first]) await version.start(round > 0)
  } finally {
    for (const version of [now, first]) version.end()
  }

  const wall = now.starts.map(({ wallMs }) => wallMs).sort((a, b) => a - b)
  const [median, slowest] = [quantile(wall, 0.5), wall.at(-1) ?? 0]
  const idle = computeMedian(now.starts, 'idleMb')
  printTable(
    `${STARTS} starts on one data folder, sandbox on, DEBUG on`,
    ['figure', 'measured', 'limit', ''],
    [
      ['time to first answer, median', ms(median), '1500 ms', median < 1_500 ? 'ok' : 'FAILED'],
      ['time to first answer, slowest', ms(slowest), '1500 ms', slowest < 1_500 ? 'ok' : 'FAILED'],
      [
        `resident memory after ${IDLE_MS / 1_000} s idle`,
        mb(idle),
        '160 MB',
        idle < 160 ? 'ok' : 'FAILED',
      ],
    ],
  )
  const rows = (['wallMs', 'cpuMs', 'idleMb'] as const).map((figure) => {
    const [ours, theirs] = [computeMedian(now.starts, figure), computeMedian(first.starts, figure)]
    const unit = figure === 'idleMb' ? mb : ms
    const limit = figure === 'wallMs' ? '' : ours <= theirs ? 'ok' : 'FAILED'
    return [NAMES[figure], unit(ours), unit(theirs), (ours / theirs).toFixed(2), limit]
  })
  printTable(
    `compared with the first version (${FIRST_REVISION}), medians`,
    ['figure', 'now', 'first', 'ratio', ''],
    rows,
  )
}

const NAMES = {
  wallMs: 'time to first answer',
  cpuMs: 'CPU until then',
  idleMb: 'memory when idle',
}
const ms = (value: number) => `${Math.round(value)} ms`
const mb = (value: number) => `${Math.round(value)} MB`

function computeMedian(starts: readonly Start[], figure: keyof Start): number {
  return quantile(
    starts.map((start) => start[figure]).sort((a, b) => a - b),
    0.5,
  )
}

function createStarter({ root }: { root: string }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const starts: Start[] = []
  return {
    starts,
    async start(isCounted: boolean) {
      const service = await startService({}, { dataDir, root })
      const cpuMs = service.cpuMs()
      await new Promise((resolve) => setTimeout(resolve, isCounted ? IDLE_MS : 200))
      if (isCounted) starts.push({ wallMs: service.startMs, cpuMs, idleMb: service.memoryMb() })
      await service.stop()
    },
    end: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** Checks out the first version with the packages of its lock file. */
function checkOutFirst(): void {
  if (existsSync(join(FIRST_ROOT, 'node_modules'))) return
  console.log(`Installing the first version into ${FIRST_ROOT} (once)`)
  rmSync(FIRST_ROOT, { recursive: true, force: true })
  const options = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, FIRST_ROOT], options)
  execFileSync('git', ['checkout', '--quiet', FIRST_REVISION], { ...options, cwd: FIRST_ROOT })
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { ...options, cwd: FIRST_ROOT })
}
