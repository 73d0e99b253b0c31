// Maps names to their owner: email addresses, linked sign-ins, passkeys, license keys and payments.
// In a distributed database, this table is distributed by name and all others by owner. So a name
// is unique across all servers, and reading a user by name needs two reads. The name of a secret is
// its keyed hash.
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

/** Moves names to another owner, for records that outlive their owner. */
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
