// The audit log of accounts: append-only chains, in each of which an entry's keyed hash covers the one before it, so that who writes to
// the database alone cannot make one anew. They are many, so that sign-ins of all nodes do not wait for one head. Persons stand in it under a pseudonym, and details are covered by a salted hash alone, so that a
// deleted person's details can be erased while the chain still holds.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Tables } from '#platform/db/tables.ts'
import { CHAINS } from './migrations.ts'

export type AuditEvent = {
  /** Who did it; null for the service itself. */
  actorId: string | null
  /** As `sign-in`, `password.changed`, `api-key.made`. */
  action: string
  /** What it was done to, as `api-key:ID`; a user as `user:ID`, which is stored under the pseudonym. */
  subject?: string
  data?: Record<string, unknown>
  at: Instant
}

/** By the database's adapter, which its transactions share: everybody who changes an account has one of those at hand. */
const keys = new WeakMap<object, Buffer>()

/** Said once of each database that is opened, before anything is recorded or verified. */
export function keyAudit(db: Db, key: Buffer): void {
  keys.set(db.getExecutor().adapter, key)
}

function keyOf(db: Db): Buffer {
  const key = keys.get(db.getExecutor().adapter)
  if (key === undefined) throw new Error('the audit log of this database has no key: see keyAudit')
  return key
}

/** A transaction writes to one chain, whatever it is about: two heads, locked in two orders, would be a deadlock. */
const chains = new WeakMap<object, number>()

function chainOf(tx: Db, about: string): number {
  const chain = chains.get(tx) ?? (createHash('sha256').update(about).digest()[0] ?? 0) % CHAINS
  if (tx.isTransaction) chains.set(tx, chain)
  return chain
}

/**
 * Appends an entry in the caller's transaction. Call it last there: on PostgreSQL it holds the head of its chain
 * until the commit.
 */
export async function recordAudit(tx: Db, event: AuditEvent): Promise<void> {
  const actor = event.actorId === null ? null : await pseudonymOf(tx, event.actorId)
  const subjectUser = event.subject?.startsWith('user:') ? event.subject.slice('user:'.length) : null
  const subject = subjectUser === null ? (event.subject ?? null) : `user:${await pseudonymOf(tx, subjectUser)}`

  // What is done to a person, and by them, mostly stands in one chain, in its order.
  const chain = chainOf(tx, subjectUser ?? event.actorId ?? subject ?? event.action)
  const head = await forUpdate(
    tx,
    tx.selectFrom('audit_heads').select(['position', 'hash']).where('chain', '=', chain),
  ).executeTakeFirstOrThrow()
  const details = event.data === undefined ? null : JSON.stringify(event.data)
  const salt = randomBytes(16).toString('base64url')
  const entry = {
    ...{ chain, position: head.position + 1, at: event.at },
    ...{ actor, action: event.action, subject, commitment: commitmentOf(salt, details), previous: head.hash },
  }
  const hash = entryHash(keyOf(tx), entry)
  await tx
    .insertInto('audit_log')
    .values({ ...entry, salt, details, hash })
    .execute()
  await tx.updateTable('audit_heads').set({ position: entry.position, hash }).where('chain', '=', chain).execute()
}

/** Where a chain ended. */
export type AuditHead = { chain: number; position: number; hash: string }

export type AuditVerdict =
  | { intact: true; entries: number; heads: AuditHead[] }
  | { intact: false; chain: number; position: number; reason: string }

const PAGE = 1_000

/**
 * Walks all chains. The end of one can be cut off unseen by whoever writes to the database, so keep the heads that this returns
 * elsewhere and pass them as `noted` the next time.
 */
export async function verifyAudit(db: Db, noted: readonly AuditHead[] = []): Promise<AuditVerdict> {
  const known = await db.selectFrom('audit_heads').selectAll().orderBy('chain').execute()
  const heads: AuditHead[] = []
  let entries = 0
  for (let chain = 0; chain < CHAINS; chain++) {
    const head = known.find((one) => one.chain === chain)
    if (head === undefined) return { intact: false, chain, position: 0, reason: 'the head of the chain is missing' }
    const walked = await verifyChain(
      db,
      head,
      noted.find((one) => one.chain === chain),
    )
    if ('reason' in walked) return { intact: false, chain, ...walked }
    entries += walked.entries
    if (head.position > 0) heads.push({ chain, position: head.position, hash: head.hash })
  }
  const stray = await findStray(db)
  return stray === null ? { intact: true, entries, heads } : { intact: false, ...stray }
}

/** Pages show every entry: one that stands beside the chains is forged. Read at one moment, as others append and retention cuts. */
async function findStray(db: Db): Promise<(Broken & { chain: number }) | null> {
  const stray = await db
    .selectFrom('audit_log')
    .innerJoin('audit_heads', 'audit_heads.chain', 'audit_log.chain')
    .select(['audit_log.chain', 'audit_log.position', 'start'])
    .where(({ or, eb, ref }) =>
      or([
        eb('audit_log.position', '<=', ref('audit_heads.start')),
        eb('audit_log.position', '>', ref('audit_heads.position')),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  if (stray !== undefined) {
    const { chain, position, start } = stray
    return {
      chain,
      position,
      reason: `it stands ${position <= start ? 'before the beginning' : 'after the end'} of its chain`,
    }
  }
  const ofNone = await db
    .selectFrom('audit_log')
    .select(['chain', 'position'])
    .where((e) => e.or([e('chain', '<', 0), e('chain', '>=', CHAINS)]))
    .limit(1)
    .executeTakeFirst()
  return ofNone === undefined ? null : { ...ofNone, reason: 'there is no such chain' }
}

type Broken = { position: number; reason: string }

async function verifyChain(
  db: Db,
  head: Selectable<Tables['audit_heads']>,
  noted: AuditHead | undefined,
): Promise<{ entries: number } | Broken> {
  const { chain, start } = head
  const key = keyOf(db)
  if (!isSealed(key, head)) return { position: start, reason: FALSE_START }
  let position = start
  let previous = head.start_hash
  for (;;) {
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('chain', '=', chain)
      .where('position', '>', position)
      // What others append meanwhile is left to the next time.
      .where('position', '<=', head.position)
      .orderBy('position')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      const reason = await faultOf(db, key, row, { position, previous })
      if (reason !== null) return { position: position + 1, reason }
      if (noted?.position === row.position && noted.hash !== row.hash) {
        return { position: row.position, reason: 'it is not the entry that was noted' }
      }
      position = row.position
      previous = row.hash
    }
    if (rows.length < PAGE) break
  }
  if (head.position !== position || head.hash !== previous) return { position, reason: 'the end was cut off' }
  if (noted && noted.position > position) return { position, reason: 'entries after it were cut off' }
  return { entries: position - start }
}

async function faultOf(
  db: Db,
  key: Buffer,
  row: Selectable<Tables['audit_log']>,
  { position, previous }: { position: number; previous: string },
): Promise<string | null> {
  if (row.position !== position + 1) return 'the entry is missing'
  if (row.previous !== previous) return 'it does not follow the entry before it'
  if (entryHash(key, row) !== row.hash) return 'its content was changed'
  if (row.salt !== null && commitmentOf(row.salt, row.details) !== row.commitment) return 'its details were changed'
  if (row.salt === null && row.details !== null) return 'it has details without a salt'
  if (row.salt === null && !(await someoneIsGone(db, row))) return 'its details were erased'
  return null
}

/**
 * Takes the oldest entries away, chain by chain, up to SLICE_ROWS of all, and seals where each chain begins now: what stays is
 * verified from there. So nothing goes that is not verified: a changed date would have it removed, and signed for.
 * @throws Error when nothing else is left to take: chains that are broken stay as they are.
 * @returns how many went.
 */
export async function cutChainsSlice(db: Db, before: Instant): Promise<number> {
  const old = await db
    .selectFrom('audit_heads')
    .innerJoin('audit_log', (join) =>
      join
        .onRef('audit_log.chain', '=', 'audit_heads.chain')
        .on(({ eb, ref }) => eb(ref('audit_log.position'), '=', eb(ref('audit_heads.start'), '+', 1))),
    )
    .select('audit_heads.chain')
    .where('audit_log.at', '<', before)
    .orderBy('audit_heads.chain')
    .execute()
  const broken: string[] = []
  let removed = 0
  for (const { chain } of old) {
    const cut = await cutChain(db, chain, before, SLICE_ROWS - removed)
    if (typeof cut === 'number') removed += cut
    else broken.push(`${chain}:${cut.position} (${cut.reason})`)
    if (removed === SLICE_ROWS) return removed
  }
  if (broken.length > 0) throw new Error(`the audit log is broken, and not cut there: ${broken.join(', ')}`)
  return removed
}

/** @returns how many of the chain's oldest entries went; or what is wrong with those that were to go, and none went. */
async function cutChain(db: Db, chain: number, before: Instant, most: number): Promise<number | Broken> {
  return transaction(db, async (tx) => {
    const head = await forUpdate(
      tx,
      tx.selectFrom('audit_heads').selectAll().where('chain', '=', chain),
    ).executeTakeFirstOrThrow()
    const key = keyOf(tx)
    if (!isSealed(key, head)) return { position: head.start, reason: FALSE_START }
    const rows = await tx
      .selectFrom('audit_log')
      .selectAll()
      .where('chain', '=', chain)
      .where('position', '>', head.start)
      .orderBy('position')
      .limit(most)
      .execute()
    const kept = rows.findIndex(({ at }) => at >= before)
    let last = { position: head.start, previous: head.start_hash }
    for (const row of kept < 0 ? rows : rows.slice(0, kept)) {
      const reason = await faultOf(tx, key, row, last)
      if (reason !== null) return { position: last.position + 1, reason }
      last = { position: row.position, previous: row.hash }
    }
    const { position, previous } = last
    if (position === head.start) return 0
    await tx
      .deleteFrom('audit_log')
      .where('chain', '=', chain)
      .where('position', '>', head.start)
      .where('position', '<=', position)
      .execute()
    await tx
      .updateTable('audit_heads')
      .set({ start: position, start_hash: previous, start_seal: startSeal(key, chain, position, previous) })
      .where('chain', '=', chain)
      .execute()
    return position - head.start
  })
}

export type AuditEntry = { at: Instant; action: string; subject: string | null; data: unknown }

/** What a user did or had done to them, newest first; for the export. */
export async function auditOf(db: Db, userId: string): Promise<AuditEntry[]> {
  const person = await personOf(db, userId)
  if (person === undefined) return []
  const rows = await db
    .selectFrom('audit_log')
    .select(['at', 'action', 'subject', 'details'])
    .where((e) => e.or([e('actor', '=', person), e('subject', '=', `user:${person}`)]))
    .orderBy('at', 'desc')
    .orderBy('position', 'desc')
    .execute()
  return rows.map(({ details, ...row }) => ({ ...row, data: details === null ? null : JSON.parse(details) }))
}

/** The name that a user's entries stand under; undefined where there are none. */
export async function personOf(db: Db, userId: string): Promise<string | undefined> {
  const row = await db.selectFrom('audit_persons').select('pseudonym').where('user_id', '=', userId).executeTakeFirst()
  return row?.pseudonym
}

/** Forgets whose name it was; the entries and the chains stay, and `eraseDetailsSlice` takes what stands in them. @returns the name. */
export async function forgetPerson(tx: Db, userId: string): Promise<string | null> {
  const person = await tx
    .deleteFrom('audit_persons')
    .where('user_id', '=', userId)
    .returning('pseudonym')
    .executeTakeFirst()
  return person?.pseudonym ?? null
}

/** Erases details of up to SLICE_ROWS entries of somebody who was forgotten. @returns of how many. */
export async function eraseDetailsSlice(db: Db, pseudonym: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('audit_log')
    .set({ salt: null, details: null })
    .where((e) =>
      e(
        e.refTuple('chain', 'position'),
        'in',
        e
          .selectFrom('audit_log')
          .select(['chain', 'position'])
          .where((e) => e.or([e('actor', '=', pseudonym), e('subject', '=', `user:${pseudonym}`)]))
          .where('salt', 'is not', null)
          .limit(SLICE_ROWS)
          .$asTuple('chain', 'position'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Details go with a person who is deleted: an entry whose persons are all there has no reason to lack them. */
async function someoneIsGone(db: Db, { actor, subject }: { actor: string | null; subject: string | null }) {
  const names = [actor, subject?.startsWith('user:') ? subject.slice('user:'.length) : null].filter(
    (name) => name !== null,
  )
  if (names.length === 0) return false
  const known = await db.selectFrom('audit_persons').select('pseudonym').where('pseudonym', 'in', names).execute()
  return known.length < new Set(names).size
}

async function pseudonymOf(tx: Db, userId: string): Promise<string> {
  const known = await tx
    .selectFrom('audit_persons')
    .select('pseudonym')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (known) return known.pseudonym
  const row = await tx
    .insertInto('audit_persons')
    .values({ user_id: userId, pseudonym: `p_${randomBytes(12).toString('base64url')}` })
    // Of two first entries at once the earlier name stays; the update makes `returning` see it.
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ user_id: userId }))
    .returning('pseudonym')
    .executeTakeFirstOrThrow()
  return row.pseudonym
}

type Hashed = {
  chain: number
  position: number
  at: string
  actor: string | null
  action: string
  subject: string | null
  commitment: string
  previous: string
}

function entryHash(key: Buffer, { chain, position, at, actor, action, subject, commitment, previous }: Hashed): string {
  const content = JSON.stringify([chain, previous, position, at, actor, action, subject, commitment])
  return createHmac('sha256', key).update(content).digest('base64url')
}

const FALSE_START = 'it does not begin where retention has cut it'

function isSealed(key: Buffer, { chain, start, start_hash, start_seal }: Selectable<Tables['audit_heads']>): boolean {
  return start === 0 || startSeal(key, chain, start, start_hash) === start_seal
}

/** No entry's hash is one: who lacks the key cannot say that a chain begins later. */
function startSeal(key: Buffer, chain: number, position: number, hash: string): string {
  const content = JSON.stringify(['start', chain, position, hash])
  return createHmac('sha256', key).update(content).digest('base64url')
}

const commitmentOf = (salt: string, details: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([salt, details]))
    .digest('base64url')
