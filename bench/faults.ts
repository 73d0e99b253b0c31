// What fails around the service, made to fail under load: the process lives, every request is answered, nothing that was acknowledged
// is lost or there twice, and all of it works again within five seconds. Limits, not speeds. Wants Debian's PostgreSQL and Redis.
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
  'database, Redis, disk, clocks, mail and descriptors fail under load: nothing lost, all answered, back in 5 s'

/** `npm run bench -- faults [SECONDS]`: how long what is away stays away. */
export async function run([seconds = '10']: string[]): Promise<void> {
  const forMs = Number(seconds) * 1_000
  const outcomes: Outcome[] = [await fullDisk(forMs)]
  tell(outcomes)
  if (!hasPostgres() || !hasRedis()) {
    console.log('  Debian’s postgresql and redis-server are not installed: the rest is left out.')
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
    ['fault', 'answers', 'slowest ms', 'works after ms', 'acknowledged', 'wrong'],
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
      `  ${wrong.length === 0 ? '✔' : '✖'} ${name}: ${answers}; works after ${recoveredMs} ms`,
    )
    for (const fault of wrong.slice(0, 10)) console.log(`      ${fault}`)
  }
}
