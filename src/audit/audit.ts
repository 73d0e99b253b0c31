// The audit log of accounts: append-only hash chains. An entry gets a keyed hash in the transaction
// it describes. It is linked into its chain a moment later (linking.ts), so that no sign-in waits
// for another. An intruder with write access to the database cannot forge or change entries. Every
// process that saw an entry linked detects its removal, and so does a note that is stored elsewhere
// (`audit verify NOTE`). Entries contain a pseudonym for each person, and only a salted hash of the
// details is part of the chain. So a deleted person's details can be erased while the chain stays
// valid.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { prepared, preparedWrite } from '#platform/db/prepared.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { AuditAction } from './actions.ts'
import { CHAINS } from './migrations.ts'

export type AuditEvent = {
  /** The actor; null for the service itself. */
  actorId: string | null
  action: AuditAction
  /** The subject as `api-key:ID`; a user as `user:ID`, which is stored under the pseudonym. */
  subject?: string
  data?: Record<string, unknown>
  at: Instant
}

/**
 * The keys by database adapter. A database shares its adapter with its transactions, so every
 * caller has it.
 */
const keys = new WeakMap<object, Buffer>()

/**
 * Sets the key of a database. Call it once after opening the database, before anything is recorded
 * or verified.
 */
export function keyAudit(db: Db, key: Buffer): void {
  keys.set(db.getExecutor().adapter, key)
}

/** @throws Error before `keyAudit` */
export function readKey(db: Db): Buffer {
  const key = keys.get(db.getExecutor().adapter)
  if (key === undefined) throw new Error('the audit log of this database has no key: see keyAudit')
  return key
}

/** Appends an entry in the caller's transaction, without waiting for a lock. */
export async function recordAudit(tx: Db, event: AuditEvent): Promise<void> {
  const actor = event.actorId === null ? null : await ensurePseudonym(tx, event.actorId)
  const subjectUser = event.subject?.startsWith('user:')
    ? event.subject.slice('user:'.length)
    : null
  const subject =
    subjectUser === null
      ? (event.subject ?? null)
      : `user:${await ensurePseudonym(tx, subjectUser)}`

  // Most entries by and about a person are in one chain, in chronological order.
  const chain = chooseChain(subjectUser ?? event.actorId ?? subject ?? event.action)
  const details = event.data === undefined ? null : JSON.stringify(event.data)
  const salt = randomBytes(16).toString('base64url')
  const entry = {
    chain,
    id: nextId(),
    at: event.at,
    actor,
    action: event.action,
    subject,
    commitment: computeCommitment(salt, details),
  }
  const mark = computeMark(readKey(tx), entry)
  await append(
    tx,
    chain,
    entry.id,
    entry.at,
    actor,
    entry.action,
    subject,
    entry.commitment,
    salt,
    details,
    mark,
  )
}

/** Inserts an entry that is not linked into its chain yet. */
const append = preparedWrite(
  (db) =>
    db.insertInto('audit_log').values({
      chain: 0,
      id: '',
      at: '',
      actor: '',
      action: '',
      subject: '',
      commitment: '',
      salt: '',
      details: '',
      mark: '',
    }),
  10,
)

const chooseChain = (about: string) =>
  (createHash('sha256').update(about).digest()[0] ?? 0) % CHAINS

let lastUs = 0

/**
 * Returns an id that orders the entries of this process. Timestamps do not order entries within a
 * millisecond.
 */
function nextId(): string {
  lastUs = Math.max(lastUs + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000))
  return lastUs.toString(16).padStart(14, '0') + randomBytes(8).toString('hex')
}

/** The last entry of a chain. */
export type AuditHead = { chain: number; position: number; hash: string }

/**
 * `unlinked`: the entries that no chain covers yet, and the time of the oldest. Their removal would
 * not be detected.
 */
export type AuditVerdict =
  | {
      intact: true
      entries: number
      heads: AuditHead[]
      unlinked: { entries: number; since: Instant | null }
    }
  | { intact: false; chain: number; position: number | string; reason: string }

const PAGE = 1_000

/**
 * Verifies all chains. An intruder with write access can cut off the end of a chain. To detect
 * that, store the returned heads elsewhere and pass them as `noted` the next time.
 */
export async function verifyAudit(db: Db, noted: readonly AuditHead[] = []): Promise<AuditVerdict> {
  const known = await db.selectFrom('audit_heads').selectAll().orderBy('chain').execute()
  const heads: AuditHead[] = []
  let entries = 0
  for (let chain = 0; chain < CHAINS; chain++) {
    const head = known.find((one) => one.chain === chain)
    if (head === undefined)
      return { intact: false, chain, position: 0, reason: 'the head of the chain is missing' }
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
  if (stray !== null) return { intact: false, ...stray }
  const unlinked = { entries: 0, since: null as Instant | null }
  for await (const row of unlinkedEntries(db)) {
    const reason = await findOwnFault(db, readKey(db), row)
    if (reason !== null) return { intact: false, chain: row.chain, position: row.id, reason }
    unlinked.entries++
    unlinked.since ??= row.at
  }
  return { intact: true, entries, heads, unlinked }
}

/** Oldest first. */
async function* unlinkedEntries(db: Db): AsyncGenerator<Entry> {
  let after = { at: EVER, id: '' }
  for (;;) {
    const rows = await selectUnlinked(db, after, PAGE).execute()
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last
  }
}

/** Earlier than any entry. */
export const EVER: Instant = '0001-01-01T00:00:00.000Z'

/** Returns entries that are in no chain yet, the oldest first. */
export function selectUnlinked(db: Db, { at, id }: { at: Instant; id: string }, limit: number) {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .where('position', 'is', null)
    .where((e) => e(e.refTuple('at', 'id'), '>', e.tuple(at, id)))
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
}

export type Entry = Selectable<Tables['audit_log']>

/**
 * Finds a forged entry outside of the chains, because pages show every entry. Uses one statement,
 * because others append entries and retention removes some meanwhile.
 */
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
    const { chain, start } = stray
    const position = stray.position ?? 0
    return {
      chain,
      position,
      reason: `it stands ${position <= start ? 'before the beginning' : 'after the end'} of its chain`,
    }
  }
  const ofNone = await db
    .selectFrom('audit_log')
    .select(['chain'])
    .where((e) => e.or([e('chain', '<', 0), e('chain', '>=', CHAINS)]))
    .limit(1)
    .executeTakeFirst()
  return ofNone === undefined ? null : { ...ofNone, position: 0, reason: 'there is no such chain' }
}

type Broken = { position: number; reason: string }

async function verifyChain(
  db: Db,
  head: Selectable<Tables['audit_heads']>,
  noted: AuditHead | undefined,
): Promise<{ entries: number } | Broken> {
  const { chain, start } = head
  const key = readKey(db)
  if (!isSealed(key, head)) return { position: start, reason: FALSE_START }
  let position = start
  let previous = head.start_hash
  for (;;) {
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('chain', '=', chain)
      .where('position', '>', position)
      // Entries that were linked in the meantime are not part of this verification.
      .where('position', '<=', head.position)
      .orderBy('position')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      const reason = await findFault(db, key, row, { position, previous })
      if (reason !== null) return { position: position + 1, reason }
      position++
      previous = row.hash ?? ''
      if (noted?.position === position && noted.hash !== previous) {
        return { position, reason: 'it is not the entry that was noted' }
      }
    }
    if (rows.length < PAGE) break
  }
  if (head.position !== position || head.hash !== previous)
    return { position, reason: 'the end was cut off' }
  if (noted && noted.position > position)
    return { position, reason: 'entries after it were cut off' }
  return { entries: position - start }
}

async function findFault(
  db: Db,
  key: Buffer,
  row: Entry,
  { position, previous }: { position: number; previous: string },
): Promise<string | null> {
  if (row.position !== position + 1) return 'the entry is missing'
  const reason = await findOwnFault(db, key, row)
  if (reason !== null) return reason
  return linkHash(key, { ...row, position: row.position, previous }) === row.hash
    ? null
    : 'it does not follow the entry before it'
}

/** Returns what is wrong with the entry itself, linked or not; null when it is valid. */
async function findOwnFault(db: Db, key: Buffer, row: Entry): Promise<string | null> {
  if (computeMark(key, row) !== row.mark) return 'its content was changed'
  if (row.salt !== null && computeCommitment(row.salt, row.details) !== row.commitment)
    return 'its details were changed'
  if (row.salt === null && row.details !== null) return 'it has details without a salt'
  if (row.salt === null && !(await someoneIsGone(db, row))) return 'its details were erased'
  return null
}

/**
 * Removes the oldest entries of the chains, up to SLICE_ROWS in total, and seals the new start of
 * each chain, from which the rest is verified. Only verified entries are removed. Otherwise a
 * forged date would remove an entry, and the seal would confirm it. @throws Error when only broken
 * chains are left, which are not changed. @returns the number of removed entries.
 */
export async function cutChainsSlice(db: Db, before: Instant): Promise<number> {
  const old = await db
    .selectFrom('audit_heads')
    .innerJoin('audit_log', (join) =>
      join
        .onRef('audit_log.chain', '=', 'audit_heads.chain')
        .on(({ eb, ref }) =>
          eb(ref('audit_log.position'), '=', eb(ref('audit_heads.start'), '+', 1)),
        ),
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
  if (broken.length > 0)
    throw new Error(`the audit log is broken, and not cut there: ${broken.join(', ')}`)
  return removed
}

/**
 * Removes the oldest entries of a chain and returns their number. When one of them is invalid,
 * removes none and returns the fault.
 */
async function cutChain(
  db: Db,
  chain: number,
  before: Instant,
  most: number,
): Promise<number | Broken> {
  return transaction(db, async (tx) => {
    const head = await forUpdate(
      tx,
      tx.selectFrom('audit_heads').selectAll().where('chain', '=', chain),
    ).executeTakeFirstOrThrow()
    const key = readKey(tx)
    if (!isSealed(key, head)) return { position: head.start, reason: FALSE_START }
    const rows = await tx
      .selectFrom('audit_log')
      .selectAll()
      .where('chain', '=', chain)
      .where('position', '>', head.start)
      .orderBy('position')
      .limit(most)
      .execute()
    const firstKept = rows.findIndex(({ at }) => at >= before)
    let last = { position: head.start, previous: head.start_hash }
    for (const row of firstKept < 0 ? rows : rows.slice(0, firstKept)) {
      const reason = await findFault(tx, key, row, last)
      if (reason !== null) return { position: last.position + 1, reason }
      last = { position: last.position + 1, previous: row.hash ?? '' }
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
      .set({
        start: position,
        start_hash: previous,
        start_seal: startSeal(key, chain, position, previous),
      })
      .where('chain', '=', chain)
      .execute()
    return position - head.start
  })
}

export type AuditEntry = { at: Instant; action: string; subject: string | null; data: unknown }

/** Returns the entries by and about a user, newest first, for the export. */
export async function collectAudit(db: Db, userId: string): Promise<AuditEntry[]> {
  const person = await findPseudonym(db, userId)
  if (person === undefined) return []
  const rows = await db
    .selectFrom('audit_log')
    .select(['at', 'action', 'subject', 'details'])
    .where((e) => e.or([e('actor', '=', person), e('subject', '=', `user:${person}`)]))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ details, ...row }) => ({
    ...row,
    data: details === null ? null : JSON.parse(details),
  }))
}

/** Returns the pseudonym of a user's entries; undefined without entries. */
export async function findPseudonym(db: Db, userId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('audit_persons')
    .select('pseudonym')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.pseudonym
}

/**
 * Deletes the link between a user and their pseudonym, and returns the pseudonym. The entries and
 * the chains stay; `eraseDetailsSlice` erases the details.
 */
export async function forgetPerson(tx: Db, userId: string): Promise<string | null> {
  const person = await tx
    .deleteFrom('audit_persons')
    .where('user_id', '=', userId)
    .returning('pseudonym')
    .executeTakeFirst()
  return person?.pseudonym ?? null
}

/**
 * Erases the details of up to SLICE_ROWS entries of a deleted user. @returns the number of entries
 */
export async function eraseDetailsSlice(db: Db, pseudonym: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('audit_log')
    .set({ salt: null, details: null })
    .where((e) =>
      e(
        e.refTuple('chain', 'id'),
        'in',
        e
          .selectFrom('audit_log')
          .select(['chain', 'id'])
          .where((e) => e.or([e('actor', '=', pseudonym), e('subject', '=', `user:${pseudonym}`)]))
          .where('salt', 'is not', null)
          .limit(SLICE_ROWS)
          .$asTuple('chain', 'id'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Returns true when a person of the entry was deleted. Only then may its details be missing. */
async function someoneIsGone(
  db: Db,
  { actor, subject }: { actor: string | null; subject: string | null },
) {
  const names = [actor, subject?.startsWith('user:') ? subject.slice('user:'.length) : null].filter(
    (name) => name !== null,
  )
  if (names.length === 0) return false
  const known = await db
    .selectFrom('audit_persons')
    .select('pseudonym')
    .where('pseudonym', 'in', names)
    .execute()
  return known.length < new Set(names).size
}

const knownPseudonym = prepared(
  (db) => db.selectFrom('audit_persons').select('pseudonym').where('user_id', '=', ''),
  1,
)

async function ensurePseudonym(tx: Db, userId: string): Promise<string> {
  const known = await knownPseudonym(tx, userId)
  if (known) return known.pseudonym
  const row = await tx
    .insertInto('audit_persons')
    .values({ user_id: userId, pseudonym: `p_${randomBytes(12).toString('base64url')}` })
    // Of two simultaneous first entries, the earlier pseudonym stays; the update makes `returning`
    // return it.
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet((e) => ({ pseudonym: e.ref('audit_persons.pseudonym') })),
    )
    .returning('pseudonym')
    .executeTakeFirstOrThrow()
  return row.pseudonym
}

type Marked = Pick<Entry, 'chain' | 'id' | 'at' | 'actor' | 'action' | 'subject' | 'commitment'>

/** Returns the keyed hash of an entry. Without the key, an entry cannot be forged or changed. */
export function computeMark(
  key: Buffer,
  { chain, id, at, actor, action, subject, commitment }: Marked,
): string {
  return keyed(key, ['entry', chain, id, at, actor, action, subject, commitment])
}

type Link = { chain: number; position: number; previous: string; mark: string }

/** Returns the keyed hash of an entry's position and of all entries before it. */
export function linkHash(key: Buffer, { chain, position, previous, mark }: Link): string {
  return keyed(key, ['link', chain, previous, position, mark])
}

const FALSE_START = 'it does not begin where retention has cut it'

function isSealed(
  key: Buffer,
  { chain, start, start_hash, start_seal }: Selectable<Tables['audit_heads']>,
): boolean {
  return start === 0 || startSeal(key, chain, start, start_hash) === start_seal
}

/**
 * Returns the seal of a chain's start. Without the key, an intruder cannot move the start. The hash
 * of an entry cannot serve as a seal, because its input differs.
 */
function startSeal(key: Buffer, chain: number, position: number, hash: string): string {
  return keyed(key, ['start', chain, position, hash])
}

function keyed(key: Buffer, content: unknown[]): string {
  return createHmac('sha256', key).update(JSON.stringify(content)).digest('base64url')
}

const computeCommitment = (salt: string, details: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([salt, details]))
    .digest('base64url')
