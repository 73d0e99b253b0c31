// How long until the service answers, and what it weighs when idle. Limits: 1.5 s for a start after the first, 160 MB.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const says = 'time to listen and idle memory, against their limits'

const STARTS = 7
const IDLE_MS = 5_000

export async function run(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const startsMs: number[] = []
  const memoryMb: number[] = []
  try {
    for (let start = 0; start <= STARTS; start++) {
      const service = await startService({}, { dataDir })
      await new Promise((resolve) => setTimeout(resolve, start === STARTS ? IDLE_MS : 200))
      // The first start makes the database and fills the compile cache.
      if (start > 0) startsMs.push(service.startMs)
      memoryMb.push(service.memoryMb())
      await service.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }

  const sorted = startsMs.toSorted((a, b) => a - b)
  const idle = memoryMb.at(-1) ?? 0
  printTable(
    `${STARTS} starts on one data folder, sandbox on, DEBUG on`,
    ['figure', 'measured', 'limit', ''],
    [
      [
        'start to first answer, median',
        `${Math.round(quantile(sorted, 0.5))} ms`,
        '1500 ms',
        quantile(sorted, 0.5) < 1_500 ? 'holds' : 'BROKEN',
      ],
      [
        'start to first answer, slowest',
        `${Math.round(sorted.at(-1) ?? 0)} ms`,
        '1500 ms',
        (sorted.at(-1) ?? 0) < 1_500 ? 'holds' : 'BROKEN',
      ],
      [
        `resident memory after ${IDLE_MS / 1_000} s idle`,
        `${Math.round(idle)} MB`,
        '160 MB',
        idle < 160 ? 'holds' : 'BROKEN',
      ],
    ],
  )
}
