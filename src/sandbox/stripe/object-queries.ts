/**
 * Finds objects by fields of their body through an index. Use it where `all` would parse every
 * object of a kind: a year of a hundred customers emits 30,000 events.
 */
import type { Stripe } from 'stripe'
import type { SandboxDatabase } from '../database.ts'
import type { Kind, Stored, StoredEvent } from './objects.ts'

export type Wanted = {
  owner?: string | undefined
  paymentIntent?: string | null
  /** Unix seconds. */
  createdFromS?: number | null
}

/** Returns the objects of a kind that match every given field, newest first. */
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
