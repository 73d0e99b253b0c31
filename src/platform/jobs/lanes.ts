/**
 * How many jobs of each lane a process runs at once. Lanes lend each other nothing: a flood of one
 * leaves the others' places free.
 */

/**
 * `urgent`: a user waits. `events`: external events. `bulk`: notices and clean-up. `long`: jobs of
 * minutes or hours.
 */
export const LANES = ['urgent', 'events', 'bulk', 'long'] as const

export type Lane = (typeof LANES)[number]
export type LaneSlots = Readonly<Record<Lane, number>>

export const LANE_SLOTS: LaneSlots = { urgent: 4, events: 4, bulk: 2, long: 3 }
