import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { ChainKey } from '../purchases/store.ts'
import '../tables.ts'

export type ActivationRow = Selectable<Tables['activations']>

/** Lists the active machines, oldest first. */
export function listActive(db: Db, chain: ChainKey): Promise<ActivationRow[]> {
  return ofChain(db, chain).where('released_at', 'is', null).execute()
}

export function findActiveMachine(
  db: Db,
  chain: ChainKey,
  fingerprintHash: string,
): Promise<ActivationRow | undefined> {
  return ofChain(db, chain)
    .where('fingerprint_hash', '=', fingerprintHash)
    .where('released_at', 'is', null)
    .executeTakeFirst()
}

/** Returns an activation of the chain, also a released one. */
export function findActivation(
  db: Db,
  chain: ChainKey,
  id: string,
): Promise<ActivationRow | undefined> {
  return ofChain(db, chain).where('id', '=', id).executeTakeFirst()
}

export async function countReleases(db: Db, chain: ChainKey, since: Instant): Promise<number> {
  const rows = await ofChain(db, chain).where('released_at', '>=', since).execute()
  return rows.length
}

function ofChain(db: Db, { owner, chain_id }: ChainKey) {
  return db
    .selectFrom('activations')
    .selectAll()
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .orderBy('activated_at')
    .orderBy('id')
}

/** Returns false when the machine is active already. */
export async function insert(tx: Db, row: ActivationRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('activations')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'chain_id', 'fingerprint_hash'])
        .where('released_at', 'is', null)
        .doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function updateSeen(
  db: Db,
  { owner, id }: Pick<ActivationRow, 'owner' | 'id'>,
  seen: Partial<Pick<ActivationRow, 'name' | 'platform' | 'version'>> & { last_seen_at: Instant },
): Promise<void> {
  await db
    .updateTable('activations')
    .set(seen)
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute()
}

/** Returns false when it was released before. */
export async function release(tx: Db, row: ActivationRow, now: Instant): Promise<boolean> {
  const released = await tx
    .updateTable('activations')
    .set({ released_at: now })
    .where('owner', '=', row.owner)
    .where('id', '=', row.id)
    .where('released_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return released !== undefined
}

export async function remove(tx: Db, { owner, id }: ActivationRow): Promise<void> {
  await tx.deleteFrom('activations').where('owner', '=', owner).where('id', '=', id).execute()
}

/** Deletes all activations of a chain. */
export async function removeAll(tx: Db, { owner, chain_id }: ChainKey): Promise<void> {
  await tx
    .deleteFrom('activations')
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .execute()
}

/**
 * Moves the activations of a deleted account to its chains of purchases, without the names of the machines,
 * because the licenses stay valid.
 */
export async function forgetUser(tx: Db, userId: string): Promise<void> {
  const rows = await tx
    .deleteFrom('activations')
    .where('owner', '=', userId)
    .returningAll()
    .execute()
  await insertAll(
    tx,
    rows.map((row) => ({ ...row, owner: row.chain_id, name: null })),
  )
}

/** Gives the activations of a license to the user who has claimed it. */
export async function giveToUser(
  tx: Db,
  { owner, chain_id }: ChainKey,
  userId: string,
): Promise<void> {
  const rows = await tx
    .deleteFrom('activations')
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .returningAll()
    .execute()
  await insertAll(
    tx,
    rows.map((row) => ({ ...row, owner: userId })),
  )
}

async function insertAll(tx: Db, rows: ActivationRow[]): Promise<void> {
  for (const row of rows) await tx.insertInto('activations').values(row).execute()
}

/** Lists the activations of all the user's purchases, for their data export. */
export function listOfUser(db: Db, userId: string) {
  return db
    .selectFrom('activations')
    .select(['id', 'chain_id', 'name', 'platform', 'version', 'activated_at', 'last_seen_at'])
    .select('released_at')
    .where('owner', '=', userId)
    .orderBy('activated_at')
    .execute()
}
