/**
 * Links recorded entries into the chains of the audit log, in slices. So the recording transaction
 * waits for no lock, and the chain covers its entry a second later. Every process that runs jobs
 * links entries; only one at a time works on a chain.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import {
  afterCommit,
  type Db,
  findDialect,
  forUpdateSkipLocked,
  transaction,
} from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { Room } from '#platform/room.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { computeMark, type Entry, EVER, linkHash, readKey, selectUnlinked } from './audit.ts'

const EVERY_MS = 1_000
/** How long the shutdown waits for the last entries to be linked. */
const LAST_LINKS_MS = 1_000

/**
 * Links all entries. @returns the number of forged entries, and of chains that an intruder has set
 * back
 */
export async function linkEntries(db: Db): Promise<{ forged: number; setBack: number }> {
  const found = { forged: 0, setBack: 0 }
  let after: { at: string; id: string } | undefined
  for (;;) {
    const slice = await linkSlice(db, after)
    found.forged += slice.forged
    found.setBack = Math.max(found.setBack, slice.setBack)
    if (slice.seen < SLICE_ROWS) return found
    after = slice.last
  }
}

/**
 * Links entries every second in each process that runs jobs, and once more after the other rooms
 * have closed.
 */
export function createLinking({
  db,
  log,
}: {
  db: Db
  log: Log
}): Required<Pick<Room, 'start' | 'close'>> {
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let reported = { forged: 0, setBack: 0 }
  let hasLooked = false
  const run = async () => {
    try {
      if (!hasLooked) await lookAtHeads(db)
      hasLooked = true
      const { forged, setBack } = await linkEntries(db)
      if (forged > reported.forged)
        log.error(
          { entries: forged },
          'entries of the audit log were not written by this service: see audit verify',
        )
      if (setBack > reported.setBack)
        log.error(
          { chains: setBack },
          'entries of the audit log were taken away: nothing more is linked into their chains',
        )
      reported = { forged, setBack }
    } catch (err) {
      log.warn({ err }, 'entries of the audit log were not linked; tried again in a second')
    }
  }
  const tick = () => (running ??= run().finally(() => (running = null)))
  const last = async () => {
    await running
    await tick()
  }
  return {
    start() {
      timer = setInterval(() => void tick(), EVERY_MS).unref()
    },
    async close() {
      if (timer === null) return
      clearInterval(timer)
      // Entries that wait for an unreachable database are linked at the next start.
      await Promise.race([last(), wait(LAST_LINKS_MS)])
    },
  }
}

/**
 * Links up to `limit` entries after `after` into their chains, in one transaction. Skips chains
 * that another process has locked. Never links a forged entry. @returns the number of entries, of
 * forged ones and of chains set back by an intruder, and the last entry, after which the next slice
 * begins.
 */
export async function linkSlice(
  db: Db,
  after: { at: Instant; id: string } = { at: EVER, id: '' },
  limit: number = SLICE_ROWS,
): Promise<{ seen: number; forged: number; setBack: number; last: { at: Instant; id: string } }> {
  return transaction(db, async (tx) => {
    const isIdle = (await selectUnlinked(tx, after, 1).execute()).length === 0
    if (isIdle) return { seen: 0, forged: 0, setBack: 0, last: after }
    // The heads are locked before the entries are read, because the previous holder may have linked
    // some of them.
    const locked = await lockHeads(tx)
    const due = await selectUnlinked(tx, after, limit).execute()
    const last = due.at(-1) ?? after
    const reached = getReached(tx)
    // Linking behind a head that was set back would sign the chain anew without the removed
    // entries.
    const heads = new Map(
      locked
        .filter(({ chain, position }) => position >= (reached.get(chain) ?? 0))
        .map((head) => [head.chain, head]),
    )
    const key = readKey(tx)
    const rows = due.filter(({ chain }) => heads.has(chain))
    const genuine = rows.filter((row) => computeMark(key, row) === row.mark)
    const moved = new Set<Head>()
    for (const row of genuine) {
      const head = heads.get(row.chain) as Head
      const position = head.position + 1
      const hash = linkHash(key, {
        chain: row.chain,
        mark: row.mark,
        position,
        previous: head.hash,
      })
      Object.assign(row, { position, hash })
      Object.assign(head, { position, hash })
      moved.add(head)
    }
    if (genuine.length > 0) {
      await writeLinks(tx, genuine)
      await writeHeads(tx, [...moved])
    }
    // Includes unchanged heads.
    afterCommit(tx, () => {
      for (const { chain, position } of heads.values()) reached.set(chain, position)
    })
    return {
      seen: due.length,
      forged: rows.length - genuine.length,
      setBack: locked.length - heads.size,
      last,
    }
  })
}

/**
 * The highest position of each chain that this process has seen, by database adapter. Positions
 * never decrease.
 */
const reachedBy = new WeakMap<object, Map<number, number>>()

function getReached(db: Db): Map<number, number> {
  const { adapter } = db.getExecutor()
  const known = reachedBy.get(adapter) ?? new Map<number, number>()
  reachedBy.set(adapter, known)
  return known
}

/**
 * Reads the positions of all chains before the first link, to detect chains that are set back
 * later.
 */
async function lookAtHeads(db: Db): Promise<void> {
  const heads = await db.selectFrom('audit_heads').select(['chain', 'position']).execute()
  const reached = getReached(db)
  for (const { chain, position } of heads)
    reached.set(chain, Math.max(position, reached.get(chain) ?? 0))
}

type Head = Pick<Selectable<Tables['audit_heads']>, 'chain' | 'position' | 'hash'>

function lockHeads(tx: Db): Promise<Head[]> {
  const heads = tx.selectFrom('audit_heads').select(['chain', 'position', 'hash']).orderBy('chain')
  return forUpdateSkipLocked(tx, heads).execute()
}

async function writeLinks(tx: Db, rows: readonly Entry[]): Promise<void> {
  const links = rows.map(({ chain, id, position, hash }) => ({ chain, id, position, hash }))
  await sql`update audit_log set position = linked.position, hash = linked.hash
    from ${given(tx, links, { chain: 'bigint', id: 'text', position: 'bigint', hash: 'text' })} as linked
    where audit_log.chain = linked.chain and audit_log.id = linked.id`.execute(tx)
}

async function writeHeads(tx: Db, heads: readonly Head[]): Promise<void> {
  await sql`update audit_heads set position = reached.position, hash = reached.hash
    from ${given(tx, heads, { chain: 'bigint', position: 'bigint', hash: 'text' })} as reached
    where audit_heads.chain = reached.chain`.execute(tx)
}

/**
 * Passes rows as one parameter. So the statement is the same for any number of rows, and the server
 * stores only one.
 */
function given<R extends object>(
  tx: Db,
  rows: readonly R[],
  types: Record<keyof R & string, string>,
): RawBuilder<unknown> {
  const json = JSON.stringify(rows)
  const columns = Object.entries<string>(types)
  if (findDialect(tx) === 'postgres') {
    const typed = sql.join(columns.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`))
    return sql`(select * from jsonb_to_recordset(${json}::jsonb) as one (${typed}))`
  }
  return sql`(select ${sql.join(columns.map(([name]) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`))} from json_each(${json}))`
}
