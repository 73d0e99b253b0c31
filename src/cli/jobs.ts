import type { Context } from './context.ts'

/** `jobs` lists failed jobs; `jobs retry ID` or `jobs retry all` enqueues them again. */
export async function run([verb, id]: string[], { platform, print }: Context): Promise<number> {
  const { db, jobs } = await platform()
  const dead = await jobs.dead()

  if (verb === undefined) {
    const { queued } = await jobs.counts()
    print(`${queued} queued, ${dead.length} failed`)
    for (const [lane, { waiting, ageSeconds }] of Object.entries(await jobs.lanes())) {
      if (waiting > 0) print(`${lane}: ${waiting} due, the oldest for ${Math.round(ageSeconds)} s`)
    }
    for (const job of dead)
      print(
        `${job.id}  ${job.kind}  since ${job.created_at}, ${job.attempts} attempts: ${job.last_error}`,
      )
    return 0
  }
  if (verb !== 'retry' || id === undefined) {
    print('Usage: jobs [retry ID|all]')
    return 2
  }

  const chosen = id === 'all' ? dead.map((job) => job.id) : [id]
  for (const job of chosen)
    print(`${job}  ${(await jobs.retry(db, job)) ? 'queued again' : 'is not a failed job'}`)
  return 0
}
