/** The timeline of a customer, newest first: money, purchases, account, emails and failed calls. */
import { type Static, Type } from 'typebox'
import { listAboutUser } from '#audit/entries.ts'
import { listMoneyEvents } from '#billing/money/customer.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { listNewestEmails } from '#mail/email-log.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { Instant as InstantType, JsonObject, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { findOrderIds, listEarlierPurchases } from '#storefront/orders/customer.ts'
import { readCallPage } from '#usage/calls.ts'
import { computeLowestId } from '#usage/ids.ts'

export const CustomerEvent = Type.Object(
  {
    at: InstantType,
    kind: OneOf('payment', 'refund', 'dispute', 'invoice', 'purchase', 'call', 'audit', 'email'),
    id: Type.String(),
    amount_cents: Nullable(Type.Integer({ description: 'In minor units of the currency' })),
    currency: Nullable(Type.String()),
    tier: Nullable(Type.String()),
    status: Nullable(
      Type.String({
        description: 'Of a refund, a dispute, an invoice, a purchase or an email; of a call',
      }),
    ),
    detail: Nullable(
      Type.String({
        description:
          'The number of an invoice, the reason of a refund or a dispute, the error code of a call, the words of the mail server about a failed email',
      }),
    ),
    model: Nullable(Type.String()),
    order_id: Nullable(Type.String({ description: 'The purchase that it is about' })),
    action: Nullable(Type.String({ description: 'Of the audit log' })),
    actor_email: Nullable(
      Type.String({ description: 'The other account that did it, as a superuser' }),
    ),
    subject_email: Nullable(Type.String({ description: 'The other account that it was done to' })),
    data: Nullable(JsonObject),
    email: Nullable(
      Type.Object({ address: Type.String(), subject: Type.String() }, { title: 'EmailToCustomer' }),
    ),
  },
  { title: 'CustomerEvent' },
)
export type CustomerEvent = Static<typeof CustomerEvent>

export const ABOUT = ['money', 'account', 'calls'] as const
type About = (typeof ABOUT)[number]

type Deps = Pick<Platform, 'db' | 'clock'>
type Asked = { before: Instant; about: About | undefined }

/** Events of one kind; `readTo` is the oldest instant that was read, null at the end. */
type Part = { events: CustomerEvent[]; readTo: Instant | null }

/** The events that each source reads for a page. */
const PART_MAX = 50
/** Failed calls are listed for as long as they explain a message to support. */
const CALL_DAYS = 90

/**
 * Returns a page of events before an instant. It ends where the first source has read no further;
 * `next_before` continues from there and is null at the end.
 */
export async function listCustomerEvents(
  deps: Deps,
  userId: string,
  { before, about }: Asked,
): Promise<{ events: CustomerEvent[]; next_before: Instant | null }> {
  const includes = (one: About) => about === undefined || about === one
  const parts = await Promise.all([
    ...(includes('money')
      ? [readMoney(deps, userId, before), readPurchases(deps, userId, before)]
      : []),
    ...(includes('account')
      ? [readAccount(deps, userId, before), readEmails(deps, userId, before)]
      : []),
    ...(includes('calls') ? [readFailedCalls(deps, userId, before)] : []),
  ])
  const all = parts.flat()
  const readTo = all.reduce<Instant | null>(
    (latest, part) => (part.readTo !== null && part.readTo > (latest ?? '') ? part.readTo : latest),
    null,
  )
  const events = all
    .flatMap((part) => part.events)
    .filter(({ at }) => readTo === null || at >= readTo)
    .sort((a, b) => b.at.localeCompare(a.at))
  return { events, next_before: readTo }
}

async function readMoney({ db }: Deps, userId: string, before: Instant): Promise<Part[]> {
  const sources = await listMoneyEvents(db, userId, { before, limit: PART_MAX })
  const orders = await findOrderIds(
    db,
    sources.flat().flatMap(({ payment_id }) => payment_id ?? []),
  )
  return sources.map((rows) =>
    limited(
      rows.map(({ payment_id, ...row }) => ({
        ...EMPTY,
        ...row,
        order_id: orders.get(payment_id ?? '') ?? null,
      })),
    ),
  )
}

async function readPurchases({ db }: Deps, userId: string, before: Instant): Promise<Part[]> {
  const rows = await listEarlierPurchases(db, userId, { before, limit: PART_MAX })
  return [
    limited(
      rows.map(({ created_at, from_id, ...row }) => ({
        ...EMPTY,
        ...row,
        at: created_at,
        kind: 'purchase' as const,
        detail: from_id === null ? null : 'upgrade',
        order_id: row.id,
      })),
    ),
  ]
}

async function readAccount({ db }: Deps, userId: string, before: Instant): Promise<Part[]> {
  const entries = await listAboutUser(db, userId, { before, limit: PART_MAX })
  const named = entries.flatMap(({ actor_id, subject_id }) => [actor_id, subject_id])
  const otherUsers = new Set(named.filter((id) => id !== null && id !== userId))
  const emails = await findEmails(db, [...otherUsers] as string[])
  return [
    limited(
      entries.map(({ id, at, action, actor_id, subject_id, data }) => ({
        ...EMPTY,
        id,
        at,
        kind: 'audit' as const,
        action,
        actor_email: emails.get(actor_id ?? '') ?? null,
        subject_email: emails.get(subject_id ?? '') ?? null,
        data,
      })),
    ),
  ]
}

async function readEmails({ db }: Deps, userId: string, before: Instant): Promise<Part[]> {
  const rows = await listNewestEmails(db, userId, { before, limit: PART_MAX })
  return [
    limited(
      rows.map(({ id, created_at, state, error, address, subject }) => ({
        ...EMPTY,
        id,
        at: created_at,
        kind: 'email' as const,
        status: state,
        detail: error,
        email: { address, subject },
      })),
    ),
  ]
}

async function readFailedCalls(
  { db, clock }: Deps,
  userId: string,
  before: Instant,
): Promise<Part[]> {
  const to = before < clock.now() ? before : clock.now()
  const from = plus(clock.now(), -CALL_DAYS * DAY_MS).slice(0, 10)
  if (to.slice(0, 10) < from) return [{ events: [], readTo: null }]
  const { calls, next } = await readCallPage(
    db,
    { userId, keyId: null },
    { from, to: to.slice(0, 10), outcome: 'failed' },
    { before: before < clock.now() ? computeLowestId(before) : null, limit: PART_MAX },
  )
  const events = calls.map(({ id, created_at, status, error_code, model }) => ({
    ...EMPTY,
    id,
    at: created_at,
    kind: 'call' as const,
    status: String(status),
    detail: error_code,
    model,
  }))
  // The page may end early, where no failed call is.
  return [{ events, readTo: next === null ? null : readTime(next) }]
}

/** The ids of calls begin with the time of the call. */
const readTime = (callId: string): Instant =>
  new Date(Number.parseInt(callId.slice(0, 9), 36)).toISOString()

function limited(events: CustomerEvent[]): Part {
  return { events, readTo: events.length < PART_MAX ? null : (events.at(-1)?.at ?? null) }
}

const EMPTY = {
  amount_cents: null,
  currency: null,
  tier: null,
  status: null,
  detail: null,
  model: null,
  order_id: null,
  action: null,
  actor_email: null,
  subject_email: null,
  data: null,
  email: null,
}
