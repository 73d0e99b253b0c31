/** ISO 8601 in UTC with milliseconds, as `2026-11-20T09:30:00.000Z`; sorts as text. */
export type Instant = string

export interface Clock {
  now(): Instant
  /** Milliseconds since 1970. */
  ms(): number
  /**
   * The offset of this clock, set by a test or by hand. The database's clock is assumed to have the
   * same offset.
   */
  movedMs?(): number
}

/**
 * Cached, because many callers need the same millisecond and formatting a date costs ten times as
 * much as reading the clock.
 */
let written = { ms: 0, instant: '' }

function formatInstant(ms: number): Instant {
  if (ms !== written.ms) written = { ms, instant: new Date(ms).toISOString() }
  return written.instant
}

export const systemClock: Clock = { now: () => formatInstant(Date.now()), ms: () => Date.now() }

export type MovableClock = Clock & { movedMs(): number; advance(ms: number): void }

export function movableClock(): MovableClock {
  let offsetMs = 0
  return {
    ms: () => Date.now() + offsetMs,
    now: () => formatInstant(Date.now() + offsetMs),
    movedMs: () => offsetMs,
    advance(ms) {
      offsetMs += ms
    },
  }
}

export function isMovable(clock: Clock): clock is MovableClock {
  return 'advance' in clock
}

export function plus(instant: Instant, ms: number): Instant {
  return new Date(Date.parse(instant) + ms).toISOString()
}

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
