/**
 * What the processor lists of charges, refunds, disputes and invoices, held against the rows that events have filled. The lists are read in
 * bulk and only find what disagrees; each of those is then read by itself, as after an event. Every hour what is new, every day the last
 * half year, since a refund may fail and a dispute be decided long after they began.
 */
import type { Stripe } from 'stripe'
import { DAY_MS, HOUR_MS, type Instant, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { moveCursor, readCursor } from '../cursors.ts'
import { knownCustomers } from '../customers.ts'
import { idOf } from '../object-reader.ts'
import { requireProcessor } from '../processor.ts'
import { listAllWithFees, readFee } from './fees.ts'
import { type InvoiceRow, isKept, keepInvoiceAlone, WITH_PAYMENTS } from './invoices.ts'
import { type PaymentRow, writeFee } from './payments.ts'
import { type MoneyDeps, refreshPayment, wordOf } from './refresh.ts'

/** Who makes something of a payment that billing itself does not: the storefront. */
export type Seller = {
  /** Of these payments those that should have become something and have not. */
  unrecorded(db: Db, payments: readonly Sold[]): Promise<string[]>
  record(paymentIntentId: string): Promise<void>
}
export type Sold = { id: string; userId: string; tier: string }

export type Disagreement = {
  about: 'subscription' | 'purchase' | 'payment' | 'refund' | 'dispute' | 'invoice'
  /** At the processor. */
  id: string
  user_id: string | null
  /** What we have, and what the processor says. */
  ours: string
  theirs: string
}

/** `mend` returns false where asking again would find the same. */
type Found = Disagreement & { mend(): Promise<unknown> }
type Deps = MoneyDeps & { sellers: readonly Seller[] }

const CURSOR = 'money'
const WHOLE_CURSOR = 'money.whole'
/** A card payment can be disputed for 120 days, some for longer; what is later still has its event. */
const WHOLE_MS = 180 * DAY_MS
const WHOLE_EVERY_MS = DAY_MS
/** Things appear in the lists a moment after their own time. */
const OVERLAP_MS = HOUR_MS
const PAGE = 100

/** `failed`: what could not be read, and what nothing is known of to mend it by. */
export type Proven = { mended: number; failed: number }

/** Mends what disagrees. `everything`: all of the last half year, however recently that was looked at. */
export async function proveMoney(deps: Deps, { everything = false } = {}): Promise<Proven> {
  const { db, clock, log } = deps
  const now = clock.now()
  const [reached, whole] = [await readCursor(db, CURSOR), await readCursor(db, WHOLE_CURSOR)]
  const isWhole =
    everything || reached === null || whole === null || plus(whole, WHOLE_EVERY_MS) <= now
  const since = isWhole ? plus(now, -WHOLE_MS) : plus(reached, -OVERLAP_MS)
  let mended = 0
  let failed = 0
  let unread = 0
  for await (const { mend, ...disagreement } of findDisagreements(deps, since)) {
    try {
      if ((await mend()) === false) {
        failed++
        log.warn(
          disagreement,
          'what disagrees with the processor cannot be mended: it knows of nothing to mend it by',
        )
      } else {
        mended++
        log.info(disagreement, 'what disagreed with the processor is mended')
      }
    } catch (error) {
      failed++
      unread++
      log.warn(
        { err: error, ...disagreement },
        'what disagrees with the processor cannot be mended yet',
      )
    }
  }
  // What could not be read is met again; what cannot be mended every day.
  if (unread === 0) await moveCursor(db, CURSOR, now)
  if (unread === 0 && isWhole) await moveCursor(db, WHOLE_CURSOR, now)
  return { mended, failed }
}

/** Charges first: they make the rows that refunds and disputes are about. */
export async function* findDisagreements(deps: Deps, since: Instant): AsyncGenerator<Found> {
  const processor = requireProcessor(deps.processor)
  const params = { created: { gte: Math.floor(Date.parse(since) / 1000) }, limit: PAGE }
  const charges = listAllWithFees((wanted) => processor.charges.list(wanted), params)
  for await (const page of pages(charges)) yield* ofCharges(deps, page)
  for await (const refunds of pages(processor.refunds.list(params))) yield* ofRefunds(deps, refunds)
  for await (const disputes of pages(processor.disputes.list(params)))
    yield* ofDisputes(deps, disputes)
  const invoices = processor.invoices.list({ ...params, expand: [`data.${WITH_PAYMENTS}`] })
  for await (const page of pages(invoices)) yield* ofInvoices(deps, page)
}

async function* pages<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const item of items) {
    page.push(item)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

async function* ofCharges(deps: Deps, charges: readonly Stripe.Charge[]): AsyncGenerator<Found> {
  const paid = charges.flatMap((charge) => {
    const id = idOf(charge.payment_intent)
    return charge.status === 'succeeded' && id
      ? [{ id, charge, customer: idOf(charge.customer) }]
      : []
  })
  const rows = await rowsOf(deps.db, paid)
  const owners = await knownCustomers(
    deps.db,
    paid.flatMap(({ customer }) => customer ?? []),
  )
  const sold = paid.flatMap(({ id, charge: { metadata } }) => {
    const { user_id: userId, tier } = metadata ?? {}
    return userId && tier ? [{ id, userId, tier }] : []
  })
  for (const seller of deps.sellers) {
    for (const id of await seller.unrecorded(deps.db, sold)) {
      const ofId = sold.filter((one) => one.id === id)
      const userId = ofId[0]?.userId ?? null
      const mend = async () => {
        await seller.record(id)
        return (await seller.unrecorded(deps.db, ofId)).length === 0
      }
      yield { about: 'purchase', id, user_id: userId, ours: 'none', theirs: 'paid', mend }
    }
  }
  for (const { id, charge, customer } of paid) {
    const row = rows.get(id)
    const owner = owners.get(customer ?? '')
    if (!owner && !row) continue
    const amount = charge.amount_captured || charge.amount
    // A payment that nobody here is known for says nothing new, whatever it was.
    const isSame = row && row.amount_cents === amount && row.paid_at !== null
    // A fee can become known after its payment; that is no disagreement.
    if (isSame && (row.kind !== null || !owner)) {
      const fee = readFee(charge)
      if (row.fee_cents === null && fee.fee_cents !== null) await writeFee(deps.db, id, fee)
      continue
    }
    yield {
      about: 'payment',
      id,
      user_id: row?.user_id ?? owner ?? null,
      ours: row?.paid_at ? `${row.amount_cents} ${row.currency}` : 'none',
      theirs: `${amount} ${charge.currency}`,
      mend: () => refreshPayment(deps, id),
    }
  }
}

async function* ofRefunds(deps: Deps, refunds: readonly Stripe.Refund[]): AsyncGenerator<Found> {
  const listed = refunds.flatMap((refund) => {
    const id = idOf(refund.payment_intent)
    return id ? [{ id, refund }] : []
  })
  const payments = await rowsOf(deps.db, listed)
  const kept = await deps.db
    .selectFrom('refunds')
    .select(['id', 'status'])
    .where('id', 'in', orNone(refunds.map(({ id }) => id)))
    .execute()
  for (const { id, refund } of listed) {
    const payment = payments.get(id)
    const ours = kept.find((row) => row.id === refund.id)?.status ?? 'none'
    if (!payment || ours === refund.status) continue
    yield {
      about: 'refund',
      id: refund.id,
      user_id: payment.user_id,
      ours,
      theirs: `${refund.status}, ${refund.amount} ${refund.currency}`,
      mend: () => refreshPayment(deps, id),
    }
  }
}

async function* ofDisputes(deps: Deps, disputes: readonly Stripe.Dispute[]): AsyncGenerator<Found> {
  const listed = disputes.flatMap((dispute) => {
    const id = idOf(dispute.payment_intent)
    return id ? [{ id, dispute }] : []
  })
  const payments = await rowsOf(deps.db, listed)
  const kept = await deps.db
    .selectFrom('disputes')
    .select(['id', 'status'])
    .where('id', 'in', orNone(disputes.map(({ id }) => id)))
    .execute()
  for (const { id, dispute } of listed) {
    const payment = payments.get(id)
    const ours = kept.find((row) => row.id === dispute.id)?.status ?? 'none'
    const theirs = wordOf(dispute)
    if (!payment || ours === theirs) continue
    yield {
      about: 'dispute',
      id: dispute.id,
      user_id: payment.user_id,
      ours,
      theirs,
      mend: () => refreshPayment(deps, id),
    }
  }
}

async function* ofInvoices(deps: Deps, invoices: readonly Stripe.Invoice[]): AsyncGenerator<Found> {
  const sent = invoices.filter(({ status }) => status !== 'draft')
  const rows: InvoiceRow[] = await deps.db
    .selectFrom('invoices')
    .selectAll()
    .where('id', 'in', orNone(sent.map(({ id }) => id)))
    .execute()
  const owners = await knownCustomers(
    deps.db,
    sent.flatMap(({ customer }) => idOf(customer) ?? []),
  )
  for (const invoice of sent) {
    const kept = rows.find(({ id }) => id === invoice.id)
    const owner = owners.get(idOf(invoice.customer) ?? '')
    if ((!kept && !owner) || (kept && isKept(kept, invoice))) continue
    yield {
      about: 'invoice',
      id: invoice.id,
      user_id: kept?.user_id ?? owner ?? null,
      ours: kept ? kept.status : 'none',
      theirs: String(invoice.status),
      mend: () => keepInvoiceAlone(deps, invoice),
    }
  }
}

async function rowsOf(db: Db, ids: readonly { id: string }[]): Promise<Map<string, PaymentRow>> {
  const rows = await db
    .selectFrom('payments')
    .selectAll()
    .where('id', 'in', orNone(ids.map(({ id }) => id)))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** SQL takes no empty list. */
const orNone = (ids: readonly string[]): readonly string[] => (ids.length > 0 ? ids : [''])
