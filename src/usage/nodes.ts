/**
 * Heartbeats of the processes that share the database. When a process is dead, its calls become
 * records and its reservations are released. The trap: a suspended process counts as dead, too, so
 * its late settlements must tolerate missing rows.
 */
import './tables.ts'
import { type Db, findDialect, transaction } from '#platform/db/db.ts'
import { databaseNow } from '#platform/db/time.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { toBudgetTx } from './budgets.ts'
import { takeNotes } from './open-calls.ts'
import { type Settlement, settleCalls } from './settlements.ts'

const BEAT_MS = 10_000
/** A node without a heartbeat for this long is dead. */
const DEAD_MS = 60_000

const PARTS = ['api', 'storefront', 'worker'] as const

/** True if no other process uses the database: it is embedded, and this process runs all parts (`SERVE`). */
export function isAlone({ db, config }: Pick<Platform, 'db' | 'config'>): boolean {
  return findDialect(db) === 'sqlite' && PARTS.every((part) => config.serve.has(part))
}

export class Nodes {
  readonly #platform: Pick<Platform, 'db' | 'clock' | 'log' | 'config'>
  readonly #nodeId: string
  #timer: NodeJS.Timeout | undefined

  constructor(platform: Pick<Platform, 'db' | 'clock' | 'log' | 'config'>, nodeId: string) {
    this.#platform = platform
    this.#nodeId = nodeId
  }

  async start(): Promise<void> {
    await this.beat(isAlone(this.#platform) ? 0 : DEAD_MS)
    const warn = seldom((details, message) => this.#platform.log.warn(details, message))
    const beat = () =>
      this.beat().catch((err) =>
        warn({ err }, 'calls of dead processes could not be settled and will be retried'),
      )
    this.#timer = setInterval(beat, BEAT_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Writes the heartbeat, and settles the calls of nodes that have had none for `deadMs`. */
  async beat(deadMs = DEAD_MS): Promise<void> {
    const { db, clock } = this.#platform
    const seen_at = databaseNow(db, clock)
    await db
      .insertInto('usage_nodes')
      .values({ node_id: this.#nodeId, seen_at })
      .onConflict((conflict) => conflict.column('node_id').doUpdateSet({ seen_at }))
      .execute()
    await transaction(db, async (tx) => {
      const dead = await tx
        .selectFrom('usage_nodes')
        .select(['node_id', 'seen_at'])
        .where('seen_at', '<=', databaseNow(tx, clock, -deadMs))
        .where('node_id', '!=', this.#nodeId)
        .execute()
      for (const { node_id, seen_at } of dead) await this.#settleDead(tx, node_id, seen_at)
    })
  }

  async #settleDead(tx: Db, nodeId: string, seenAt: string): Promise<void> {
    const notes = await takeNotes(tx, nodeId, seenAt)
    const rows = await tx
      .selectFrom('usage_reservations')
      .select(['user_id', 'id'])
      .where('node_id', '=', nodeId)
      .execute()
    const settlements: Settlement[] = [
      ...notes.map((note) => ({ ...note, isReserved: false, hasNote: false })),
      ...rows.map(({ user_id: userId, id }) => {
        return { userId, id, record: null, plan: null, isReserved: true, hasNote: false }
      }),
    ]
    await settleCalls(toBudgetTx(tx), settlements, true)
    await tx.deleteFrom('usage_nodes').where('node_id', '=', nodeId).execute()
  }
}
