import { LANE_SLOTS, LANES, type LaneSlots } from '#platform/jobs/lanes.ts'
import { ConfigError, type Reader } from './reader.ts'

/** `bulk=1,long=0`: a lane left out keeps its number, and one of 0 is left to other processes. @throws ConfigError */
export function readLaneSlots(read: Pick<Reader, 'optional'>): LaneSlots {
  const slots = { ...LANE_SLOTS }
  for (const word of (read.optional('JOB_LANES') ?? '').split(',')) {
    if (word.trim() === '') continue
    const [, name, count] = /^\s*([a-z]+)\s*=\s*(\d{1,3})\s*$/.exec(word) ?? []
    const lane = LANES.find((one) => one === name)
    if (lane === undefined) {
      throw new ConfigError(
        `JOB_LANES expects lanes with numbers, as urgent=4,events=4,bulk=2,long=3, got '${word.trim()}'`,
      )
    }
    slots[lane] = Number(count)
  }
  return slots
}
