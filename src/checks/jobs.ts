/** Checks that jobs run in time. */
import { LANES } from '#platform/jobs/lanes.ts'
import { createLines, type Line, type OpenPlatform } from './line.ts'

/** A lane whose jobs are due for longer has no worker, or too few. */
const LATE_SECONDS = { urgent: 60, events: 300, bulk: 3_600, long: 6 * 3_600 } as const

export async function checkJobs(platform: OpenPlatform): Promise<Line> {
  const { ok, wrong, failed } = createLines('Jobs')
  try {
    const { jobs } = await platform()
    const [lanes, { dead }] = await Promise.all([jobs.lanes(), jobs.counts()])
    const says = LANES.map(
      (lane) =>
        `${lane} ${lanes[lane].waiting === 0 ? 'none' : `${lanes[lane].waiting}, the oldest for ${Math.round(lanes[lane].ageSeconds)} s`}`,
    )
    const isLate = LANES.some((lane) => lanes[lane].ageSeconds > LATE_SECONDS[lane])
    return (isLate ? wrong : ok)(
      `due: ${says.join('; ')}. ${dead} failed${dead > 0 ? ' (npm run cli -- jobs)' : ''}`,
    )
  } catch (error) {
    return failed(error, `not counted: ${(error as Error).message}`)
  }
}
