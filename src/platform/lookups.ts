// Lookup table: whose something is that a person or the processor holds and that does not say so
// itself (an address, a linked person, a passkey, a license key, a payment). This table is
// distributed by name, all others by owner. So a name belongs to one owner over all servers, and
// its owner is two reads away. A secret's name is its keyed hash.
import './tables.ts'
import type { Db } from './db/db.ts'
import { prepared } from './db/prepared.ts'
import type { LookupKind } from './tables.ts'

const byName = prepared(
  (db) =>
    db.selectFrom('lookups').select('owner').where('name', '=', '').where('kind', '=', 'email'),
  2,
)

/** Returns the owner; null when the name has none. */
export async function findNameOwner(
  db: Db,
  kind: LookupKind,
  name: string,
): Promise<string | null> {
  return (await byName(db, name, kind))?.owner ?? null
}

/**
 * @returns false when the name is taken. Of two simultaneous claims, the second waits for the
 * first.
 */
export async function claimName(
  tx: Db,
  kind: LookupKind,
  name: string,
  owner: string,
): Promise<boolean> {
  const row = await tx
    .insertInto('lookups')
    .values({ name, kind, owner })
    .onConflict((conflict) => conflict.columns(['name', 'kind']).doNothing())
    .returning('owner')
    .executeTakeFirst()
  return row !== undefined
}

/** @throws a unique violation when the name is taken */
export async function insertName(
  tx: Db,
  kind: LookupKind,
  name: string,
  owner: string,
): Promise<void> {
  await tx.insertInto('lookups').values({ name, kind, owner }).execute()
}

export async function releaseNames(
  tx: Db,
  kind: LookupKind,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.deleteFrom('lookups').where('name', 'in', names).where('kind', '=', kind).execute()
}

/** Hands names over, of what outlives its owner. */
export async function moveNames(
  tx: Db,
  kind: LookupKind,
  names: readonly string[],
  owner: string,
): Promise<void> {
  if (names.length === 0) return
  await tx
    .updateTable('lookups')
    .set({ owner })
    .where('name', 'in', names)
    .where('kind', '=', kind)
    .execute()
}

/** Removes everything that still belongs to this owner; for the deletion of an account. */
export async function releaseOwner(tx: Db, owner: string): Promise<void> {
  await tx.deleteFrom('lookups').where('owner', '=', owner).execute()
}
