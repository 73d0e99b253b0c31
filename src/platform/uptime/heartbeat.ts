/**
 * Records which parts of the service run, and the times in which one did not. A process that is
 * killed cannot report its death, so the next one that serves the part finds the gap. A part that
 * ended on a signal leaves none: the operator stopped it.
 */
import './tables.ts'
import { performance } from 'node:perf_hooks'
import type { Part } from '#config/config.ts'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { transaction } from '../db/db.ts'
import { databaseNow } from '../db/time.ts'
import type { Platform } from '../platform.ts'
import { seldom } from '../telemetry/log.ts'

const BEAT_MS = 15 * SECOND_MS
/** Restarts take seconds; a longer gap is an outage. */
export const OUTAGE_MS = 2 * MINUTE_MS

type Deps = Pick<Platform, 'config' | 'db' | 'clock' | 'log'>

export class Heartbeat {
  readonly #deps: Deps
  readonly #parts: readonly Part[]
  /** Of this machine’s timer, because a movable clock jumps. */
  #beatAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#parts = [...deps.config.serve].sort()
  }

  async start(): Promise<void> {
    const warn = seldom((details, message) => this.#deps.log.warn(details, message))
    const beat = () => {
      this.#beating = this.#beat().catch((err) =>
        warn({ err }, 'the database does not record that this process runs'),
      )
      return this.#beating
    }
    await beat()
    this.#timer = setInterval(beat, BEAT_MS).unref()
  }

  /** Another process with the same parts takes the mark back with its next beat. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    await this.#beating
    const { db, clock, log } = this.#deps
    await db
      .updateTable('service_parts')
      .set({ is_ended: true, seen_at: databaseNow(db, clock) })
      .where('part', 'in', this.#parts)
      .execute()
      .catch((err) => log.warn({ err }, 'the end of this process was not recorded'))
  }

  async #beat(): Promise<void> {
    const { db, clock } = this.#deps
    const startedAtMs = performance.now()
    await transaction(db, async (tx) => {
      // Otherwise the gap would be longer than this process was away from the database.
      if (startedAtMs - this.#beatAtMs > OUTAGE_MS) {
        const now = databaseNow(tx, clock)
        await tx
          .insertInto('service_outages')
          .columns(['part', 'began_at', 'ended_at'])
          .expression((e) =>
            e
              .selectFrom('service_parts')
              .select(['part', 'seen_at', now.as('ended_at')])
              .where('part', 'in', this.#parts)
              .where('is_ended', '=', false)
              .where('seen_at', '<', databaseNow(tx, clock, -OUTAGE_MS)),
          )
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }
      const seen_at = databaseNow(tx, clock)
      await tx
        .insertInto('service_parts')
        .values(this.#parts.map((part) => ({ part, seen_at, is_ended: false })))
        .onConflict((conflict) => conflict.column('part').doUpdateSet({ seen_at, is_ended: false }))
        .execute()
    })
    this.#beatAtMs = startedAtMs
  }
}
