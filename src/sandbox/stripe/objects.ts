/**
 * Where the processor's objects are kept: each once, by id, as its API shows it (`body`), with what it keeps to itself beside it (`side`).
 */
import { randomBytes } from 'node:crypto'
import type { SandboxDatabase } from '../database.ts'
import { badReference, missingObject } from './fault.ts'

export type StripeObject = { id: string; object: string }

type Kept = { body: string; side: string }

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** `sub_1SBxQ…`: the prefix the real processor uses and 24 characters. Ids of test-mode checkout sessions start with `cs_test_`. */
export function newId(prefix: string): string {
  let id = ''
  for (const byte of randomBytes(24)) id += ALPHABET[byte % ALPHABET.length]
  return `${prefix}_${id}`
}

/** Makes or replaces. `owner` (a customer) and `side` are left as they were when not given. */
export function put<T extends StripeObject>(
  db: SandboxDatabase,
  object: T,
  more: { owner?: string | null; side?: object } = {},
): T {
  db.prepare(
    `insert into stripe_objects (id, object, owner, body, side) values (?1, ?2, coalesce(?3, ''), ?4, coalesce(?5, '{}'))
     on conflict (id) do update set body = excluded.body, owner = coalesce(?3, owner), side = coalesce(?5, side)`,
  ).run(
    object.id,
    object.object,
    more.owner ?? null,
    JSON.stringify(object),
    more.side ? JSON.stringify(more.side) : null,
  )
  return object
}

export function get<T extends StripeObject>(db: SandboxDatabase, id: string): T | undefined {
  const row = db.prepare('select body from stripe_objects where id = ?').get(id) as Kept | undefined
  return row && (JSON.parse(row.body) as T)
}

export function getSide<S extends object>(db: SandboxDatabase, id: string): S {
  const row = db.prepare('select side from stripe_objects where id = ?').get(id) as Kept | undefined
  return JSON.parse(row?.side ?? '{}') as S
}

/** @throws Fault 404 `No such customer: 'cus_…'` when there is none, or it is of another kind. */
export function getExisting<T extends StripeObject>(
  db: SandboxDatabase,
  object: T['object'],
  id: string,
): T {
  const found = get<T>(db, id)
  if (found?.object !== object) throw missingObject(object.replace('.', ' '), id)
  return found
}

/** As `must`, for an id that a parameter names: 400 with that parameter. */
export function getNamed<T extends StripeObject>(
  db: SandboxDatabase,
  object: T['object'],
  id: string,
  param: string,
): T {
  const found = get<T>(db, id)
  if (found?.object !== object) throw badReference(object.replace('.', ' '), id, param)
  return found
}

/** Newest first; all of a kind, or those of one owner. */
export function all<T extends StripeObject>(
  db: SandboxDatabase,
  object: T['object'],
  owner?: string,
): T[] {
  const rows = (
    owner === undefined
      ? db.prepare('select body from stripe_objects where object = ? order by seq desc').all(object)
      : db
          .prepare(
            'select body from stripe_objects where object = ? and owner = ? order by seq desc',
          )
          .all(object, owner)
  ) as Kept[]
  return rows.map((row) => JSON.parse(row.body) as T)
}

/** The newest of a kind that `fits`. */
export function findNewest<T extends StripeObject>(
  db: SandboxDatabase,
  object: T['object'],
  fits: (it: T) => boolean,
): T | undefined {
  return all<T>(db, object).find(fits)
}
