// Makes neighbours of the service fail under load. The process must survive, answer every request,
// lose or duplicate no acknowledged write, and work fully within five seconds after the fault.
// Checks limits, not speed. Needs Debian's PostgreSQL and Redis.
import {
  databaseFaults,
  descriptorFault,
  fullDisk,
  mailAway,
  type Outcome,
  redisFaults,
  runFaults,
  skewedClocks,
} from './faults/cases.ts'
import { hasPostgres, hasRedis, startPostgres, startRedis } from './faults/servers.ts'
import { printTable } from './lib/table.ts'

export const description =
  'database, Redis, disk, clocks, mail and descriptors fail under load: no write lost, every request answered, recovery in 5 s'

/** `npm run bench -- faults [SECONDS]`: the duration of each fault. */
export async function run([seconds = '10']: string[]): Promise<void> {
  const forMs = Number(seconds) * 1_000
  const outcomes: Outcome[] = [await fullDisk(forMs)]
  tell(outcomes)
  if (!hasPostgres() || !hasRedis()) {
    console.log(
      '  Debian’s postgresql and redis-server are not installed, so the remaining faults are skipped.',
    )
    return
  }
  const [postgres, redis] = [await startPostgres(), await startRedis()]
  const note = (...more: Outcome[]) => {
    outcomes.push(...more)
    tell(more)
  }
  try {
    const faults = [
      ...databaseFaults(postgres, forMs),
      ...redisFaults(redis, forMs),
      descriptorFault(),
    ]
    note(...(await runFaults(postgres, faults, { REDIS_URL: redis.url })))
    note(await mailAway(postgres, forMs))
    for (const skewMs of [40_000, 100_000]) note(await skewedClocks(postgres, skewMs))
  } finally {
    await redis.end()
    await postgres.end()
  }
  printTable(
    `${outcomes.length} faults`,
    ['fault', 'answers', 'slowest ms', 'recovery ms', 'acknowledged', 'faults'],
    outcomes.map((one) => [
      one.name,
      one.answers,
      one.slowestMs,
      one.recoveredMs ?? 'never',
      one.acknowledged,
      one.wrong.length,
    ]),
  )
  if (outcomes.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1
}

function tell(outcomes: Outcome[]): void {
  for (const { name, answers, recoveredMs, wrong } of outcomes) {
    console.log(
      `  ${wrong.length === 0 ? '✔' : '✖'} ${name}: ${answers}; recovered after ${recoveredMs} ms`,
    )
    for (const fault of wrong.slice(0, 10)) console.log(`      ${fault}`)
  }
}
