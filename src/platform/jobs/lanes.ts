/**
 * The number of jobs per lane that a process runs at once. A lane never uses another lane's slots,
 * so a flood in one lane does not delay the others.
 */

/**
 * `urgent`: a user waits. `events`: external events. `bulk`: notices and clean-up. `long`: jobs of
 * minutes or hours.
 */
export const LANES = ['urgent', 'events', 'bulk', 'long'] as const

export type Lane = (typeof LANES)[number]
export type LaneSlots = Readonly<Record<Lane, number>>

export const LANE_SLOTS: LaneSlots = { urgent: 4, events: 4, bulk: 2, long: 3 }
