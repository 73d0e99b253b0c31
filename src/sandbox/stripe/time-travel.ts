/**
 * Moves the clock day by day and from one due event to the next. Each event happens at its due
 * time, and the product handles it before the next one.
 */
import { DAY_MS } from '#platform/clock.ts'
import { settleDue } from './checkout-payment.ts'
import { expireOldSessions } from './checkout-sessions.ts'
import type { Courier } from './deliveries.ts'
import type { ProcessorDeps } from './deps.ts'
import { refused } from './fault.ts'
import { listSchedule, runDue } from './schedule.ts'

export type Hands = {
  /** Null when this sandbox may not move the clock. */
  advance: ((ms: number) => void) | null
  /** Runs the product's due work at the current time. `isThere`: the move is complete. */
  catchUp: (at: { isThere: boolean }) => Promise<void>
}

export type TimeTravel = ReturnType<typeof createTimeTravel>

const MOVE_DAYS_MAX = 400
const WEBHOOK_PATIENCE_MS = 5_000

export function createTimeTravel(
  deps: ProcessorDeps,
  courier: Courier,
  { advance, catchUp }: Hands,
) {
  let isMoving = false
  let movedHereMs = deps.clock.movedMs?.() ?? 0

  return {
    canMove: advance !== null,
    isMoving: () => isMoving,

    /** Runs events that are due in real time, unless a test controls the clock. */
    tick(): void {
      if (isMoving || (deps.clock.movedMs?.() ?? 0) !== movedHereMs) return
      runDue(deps)
    },

    /** Returns the events on the way. @throws Fault when the clock cannot be moved to that time. */
    async moveTo(toMs: number): Promise<string[]> {
      const { clock } = deps
      const wantedMs = toMs - clock.ms()
      if (!advance)
        throw refused(409, 'The clock can be moved only while the processor is the sandbox’s own.')
      if (isMoving) throw refused(409, 'The clock is being moved already.')
      if (!Number.isFinite(wantedMs) || wantedMs < 0)
        throw refused(400, 'The clock moves forward alone.')
      if (wantedMs > MOVE_DAYS_MAX * DAY_MS)
        throw refused(400, `The clock moves ${MOVE_DAYS_MAX} days at once, at most.`)
      isMoving = true
      try {
        return await travel(toMs)
      } finally {
        isMoving = false
      }
    },
  }

  async function travel(toMs: number): Promise<string[]> {
    const { clock } = deps
    const happened: string[] = []
    settleDue(deps, Number.MAX_SAFE_INTEGER)
    for (;;) {
      happened.push(...runDue(deps))
      expireOldSessions(deps)
      await courier.settled(WEBHOOK_PATIENCE_MS)
      const now = clock.ms()
      const isThere = now >= toMs
      await catchUp({ isThere })
      if (isThere) return happened
      const [next] = listSchedule(deps)
      const step =
        Math.min(
          toMs,
          now + DAY_MS,
          next ? Math.max(next.at * 1_000, now) : Number.POSITIVE_INFINITY,
        ) - now
      advance?.(step)
      movedHereMs += step
    }
  }
}
