// Signs of life of the processes that share the database, and what a dead one leaves: reservations, and running calls.
// The trap: a process that only stood still is taken for dead as well; its late settlements then free no more than it holds.
import './tables.ts'
import { type Db, dialectOf, transaction } from '#platform/db/db.ts'
import { databaseNow } from '#platform/db/time.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { giveBackOf } from './shared-holds.ts'

const BEAT_MS = 10_000
/** A node that has not been seen for so long is dead. */
const DEAD_MS = 60_000

/** An embedded database all of whose parts this process serves: where `SERVE` splits them, several have it. */
export function isAlone({ db, config }: Pick<Platform, 'db' | 'config'>): boolean {
  return (
    dialectOf(db) === 'sqlite' &&
    (['api', 'storefront', 'worker'] as const).every((part) => config.serve.has(part))
  )
}

/**
 * Keeps this node's sign of life, and gives back what dead nodes had reserved; `recordCalls` makes records of the calls
 * that one had running when it was last seen.
 */
export function watchNodes(
  { db, clock, log, config }: Pick<Platform, 'db' | 'clock' | 'log' | 'config'>,
  nodeId: string,
  recordCalls: (tx: Db, deadNodeId: string, seenAt: string) => Promise<void>,
) {
  const beat = async () => {
    await db
      .insertInto('usage_nodes')
      .values({ node_id: nodeId, seen_at: databaseNow(db, clock) })
      .onConflict((conflict) =>
        conflict.column('node_id').doUpdateSet({ seen_at: databaseNow(db, clock) }),
      )
      .execute()
    await sweep(DEAD_MS)
  }

  const sweep = (unseenMs: number) =>
    transaction(db, async (tx) => {
      const dead = await tx
        .selectFrom('usage_nodes')
        .select(['node_id', 'seen_at'])
        .where('seen_at', '<=', databaseNow(tx, clock, -unseenMs))
        .where('node_id', '!=', nodeId)
        .execute()
      for (const { node_id, seen_at } of dead) {
        await recordCalls(tx, node_id, seen_at)
        const rows = await tx
          .deleteFrom('usage_reservations')
          .where('node_id', '=', node_id)
          .returningAll()
          .execute()
        for (const { user_id, ...held } of rows)
          await tx.executeQuery(giveBackOf(tx, { userId: user_id, ...held }))
        await tx.deleteFrom('usage_nodes').where('node_id', '=', node_id).execute()
      }
    })

  const say = seldom((details, message) => log.warn(details, message))
  const safely = () =>
    beat().catch((error) => say({ err: error }, 'reservations of dead nodes were not given back'))
  let timer: NodeJS.Timeout | null = null

  return {
    async start() {
      await beat()
      // Whoever else is in the list has died.
      if (isAlone({ db, config })) await sweep(0)
      timer = setInterval(safely, BEAT_MS).unref()
    },
    async stop() {
      if (timer) clearInterval(timer)
      // Only tidiness: what is left here, another node finds dead and takes away.
      await db
        .deleteFrom('usage_reservations')
        .where('node_id', '=', nodeId)
        .where('tokens', '=', 0)
        .where('nanos', '=', 0)
        .execute()
        .catch((error) => log.warn({ err: error }, 'empty reservations were left behind'))
    },
  }
}
