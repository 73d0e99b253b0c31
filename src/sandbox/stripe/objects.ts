/**
 * Stores the processor's objects, each once, by id: `body` as the API shows it, and `side` with
 * internal data.
 */
import { randomBytes } from 'node:crypto'
import type { Stripe } from 'stripe'
import type { SandboxDatabase } from '../database.ts'
import type { Db } from './deps.ts'
import { badReference, missingObject } from './fault.ts'

export type StripeObject = { id: string; object: string }

export type StoredEvent = {
  id: string
  object: 'event'
  api_version: string
  created: number
  data: { object: StripeObject; previous_attributes?: object }
  livemode: false
  pending_webhooks: number
  request: { id: string | null; idempotency_key: string | null }
  type: string
}

/** The type of each kind of stored object. */
export type Stored = {
  balance_transaction: Stripe.BalanceTransaction
  'billing_portal.session': Stripe.BillingPortal.Session
  charge: Stripe.Charge
  'checkout.session': Stripe.Checkout.Session
  coupon: Stripe.Coupon
  customer: Stripe.Customer
  discount: Stripe.Discount
  dispute: Stripe.Dispute
  event: StoredEvent
  invoice: Stripe.Invoice
  invoice_payment: Stripe.InvoicePayment
  payment_intent: Stripe.PaymentIntent
  payment_method: Stripe.PaymentMethod
  price: Stripe.Price
  product: Stripe.Product
  promotion_code: Stripe.PromotionCode
  refund: Stripe.Refund
  subscription: Stripe.Subscription
  tax_id: Stripe.TaxId
}
export type Kind = keyof Stored

type Kept = { body: string; side: string }

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * `sub_1SBxQ…`: the prefix the real processor uses and 24 characters. Ids of test-mode checkout
 * sessions start with `cs_test_`.
 */
export function newId(prefix: string): string {
  let id = ''
  for (const byte of randomBytes(24)) id += ALPHABET[byte % ALPHABET.length]
  return `${prefix}_${id}`
}

/** Creates or replaces an object. Omitted `owner` (a customer) and `side` stay unchanged. */
export function put<T extends StripeObject>(
  { db }: Db,
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

export function get<T extends StripeObject>({ db }: Db, id: string): T | undefined {
  const row = db.prepare('select body from stripe_objects where id = ?').get(id) as Kept | undefined
  return row && (JSON.parse(row.body) as T)
}

export function getSide<S extends object>({ db }: Db, id: string): S {
  const row = db.prepare('select side from stripe_objects where id = ?').get(id) as Kept | undefined
  return JSON.parse(row?.side ?? '{}') as S
}

/** @throws Fault 404 `No such customer: 'cus_…'` for a missing object or one of another kind. */
export function getExisting<K extends Kind>(deps: Db, object: K, id: string): Stored[K] {
  const found = get<Stored[K]>(deps, id)
  if (found?.object !== object) throw missingObject(object.replace('.', ' '), id)
  return found
}

/** Like `getExisting` for an id in a parameter: throws 400 with that parameter. */
export function getNamed<K extends Kind>(
  deps: Db,
  object: K,
  id: string,
  param: string,
): Stored[K] {
  const found = get<Stored[K]>(deps, id)
  if (found?.object !== object) throw badReference(object.replace('.', ' '), id, param)
  return found
}

/** Returns all objects of a kind, or those of one owner, newest first. */
export const all = <K extends Kind>({ db }: Db, object: K, owner?: string): Stored[K][] =>
  findObjects(db, object, { owner })

type Wanted = {
  owner?: string | undefined
  paymentIntent?: string | null
  /** Unix seconds. */
  createdFromS?: number | null
}

/**
 * Returns the objects of a kind that match every given field, newest first. An index answers all
 * fields: a year of a hundred customers emits 30,000 events.
 */
export function findObjects<K extends Kind>(
  db: SandboxDatabase,
  object: K,
  { owner, paymentIntent, createdFromS }: Wanted,
): Stored[K][] {
  const conditions: [string, string | number | null | undefined][] = [
    ['object =', object],
    ['owner =', owner],
    [`json_extract(body, '$.payment_intent') =`, paymentIntent],
    [`json_extract(body, '$.created') >=`, createdFromS],
  ]
  const applied = conditions.filter(([, value]) => value !== undefined && value !== null)
  const where = applied.map(([condition]) => `${condition} ?`).join(' and ')
  return parseBodies(
    db
      .prepare(`select body from stripe_objects where ${where} order by seq desc`)
      .all(...applied.map(([, value]) => value ?? null)),
  )
}

/** Returns a customer's open invoices, newest first. */
export function findOpenInvoices(db: SandboxDatabase, customer: string): Stripe.Invoice[] {
  return parseBodies(
    db
      .prepare(
        `select body from stripe_objects indexed by stripe_open_invoices where object = 'invoice'
         and json_extract(body, '$.status') = 'open' and owner = ? order by seq desc`,
      )
      .all(customer),
  )
}

/** Returns the subscriptions that have not ended, newest first. */
export function findLiveSubscriptions(db: SandboxDatabase): Stripe.Subscription[] {
  return parseBodies(
    db
      .prepare(
        `select body from stripe_objects indexed by stripe_live_subscriptions
         where object = 'subscription'
         and json_extract(body, '$.status') not in ('canceled', 'incomplete_expired')
         order by seq desc`,
      )
      .all(),
  )
}

/** Returns the events of these types that were stored after a position, oldest first. */
export function findNewEvents(
  db: SandboxDatabase,
  seq: number,
  types: readonly string[],
): StoredEvent[] {
  const marks = types.map(() => '?').join(', ')
  return parseBodies(
    db
      .prepare(
        // The plus keeps SQLite from an index that would read all earlier events.
        `select body from stripe_objects where seq > ? and +object = 'event'
         and json_extract(body, '$.type') in (${marks}) order by seq`,
      )
      .all(seq, ...types),
  )
}

/** Returns the position of the newest row, which later rows exceed. */
export function findLastSeq(db: SandboxDatabase, table: 'stripe_objects' | 'mails'): number {
  return Number(db.prepare(`select coalesce(max(seq), 0) as last from ${table}`).get()?.last)
}

const parseBodies = <T>(rows: readonly Record<string, unknown>[]): T[] =>
  rows.map(({ body }) => JSON.parse(String(body)) as T)
