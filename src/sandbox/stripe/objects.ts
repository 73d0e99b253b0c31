/**
 * Stores the processor's objects, each once, by id: `body` as the API shows it, and `side` with
 * internal data.
 */
import { randomBytes } from 'node:crypto'
import type { Stripe } from 'stripe'
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
export function all<K extends Kind>({ db }: Db, object: K, owner?: string): Stored[K][] {
  const rows = (
    owner === undefined
      ? db.prepare('select body from stripe_objects where object = ? order by seq desc').all(object)
      : db
          .prepare(
            'select body from stripe_objects where object = ? and owner = ? order by seq desc',
          )
          .all(object, owner)
  ) as Kept[]
  return rows.map((row) => JSON.parse(row.body) as Stored[K])
}

/** Returns the newest object of a kind for which `fits` is true. */
export function findNewest<K extends Kind>(
  deps: Db,
  object: K,
  fits: (item: Stored[K]) => boolean,
): Stored[K] | undefined {
  return all(deps, object).find(fits)
}
