/**
 * Compares the processor's lists of charges, refunds, disputes and invoices with the saved rows.
 * Bulk lists only find differences; each one is then read separately, as after an event. New items
 * are compared hourly and the last half year daily, since refunds fail and disputes close late.
 */
import type { Stripe } from 'stripe'
import { DAY_MS, HOUR_MS, type Instant, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { moveCursor, readCursor } from '../cursors.ts'
import { findOwnerIds } from '../customers.ts'
import { readId } from '../object-reader.ts'
import { requireProcessor } from '../processor.ts'
import { listAllWithFees, readFee } from './fees.ts'
import { type InvoiceRow, isUnchanged, lockAndSaveInvoice, WITH_PAYMENTS } from './invoices.ts'
import { fillInFee, type PaymentRow } from './payments.ts'
import { type MoneyDeps, readDisputeStatus, refreshPayment } from './refresh.ts'

/** A room that records its own sales from payments: the storefront. */
export type Seller = {
  /** Returns the payments that should have a record and have none. */
  findUnrecorded(db: Db, payments: readonly Sold[]): Promise<string[]>
  record(paymentIntentId: string): Promise<void>
}
/** `guest`: the seller's mark of a payment without a user. */
export type Sold = { id: string; userId: string | null; guest: string | null; tier: string }

export type Disagreement = {
  about: 'subscription' | 'purchase' | 'payment' | 'refund' | 'dispute' | 'invoice'
  /** The object's id at the processor. */
  id: string
  user_id: string | null
  /** The saved value, and the processor's. */
  ours: string
  theirs: string
}

/** `repair` returns false when another attempt would fail the same way. */
type Found = Disagreement & { repair(): Promise<unknown> }
type Deps = MoneyDeps & { sellers: readonly Seller[] }

const CURSOR = 'money'
const WHOLE_CURSOR = 'money.whole'
/**
 * Most card payments can be disputed for 120 days, some for longer; later disputes still have
 * events.
 */
const WHOLE_MS = 180 * DAY_MS
const WHOLE_EVERY_MS = DAY_MS
/** Objects appear in the lists shortly after their timestamp. */
const OVERLAP_MS = HOUR_MS
const PAGE = 100

/** `failed` counts differences that could not be read or cannot be repaired. */
export type MoneyOutcome = { repaired: number; failed: number }

/**
 * Repairs differences. `everything`: compares the last half year, even if that was done recently.
 */
export async function reconcileMoney(
  deps: Deps,
  { everything = false } = {},
): Promise<MoneyOutcome> {
  const { db, clock, log } = deps
  const now = clock.now()
  const [reached, whole] = [await readCursor(db, CURSOR), await readCursor(db, WHOLE_CURSOR)]
  const isWhole =
    everything || reached === null || whole === null || plus(whole, WHOLE_EVERY_MS) <= now
  const since = isWhole ? plus(now, -WHOLE_MS) : plus(reached, -OVERLAP_MS)
  let repaired = 0
  let failed = 0
  let unread = 0
  for await (const { repair, ...disagreement } of findDisagreements(deps, since)) {
    try {
      if ((await repair()) === false) {
        failed++
        log.warn(
          disagreement,
          'a difference from the processor cannot be repaired: the processor lacks the data',
        )
      } else {
        repaired++
        log.info(disagreement, 'a difference from the processor was repaired')
      }
    } catch (error) {
      failed++
      unread++
      log.warn(
        { err: error, ...disagreement },
        'a difference from the processor cannot be repaired yet',
      )
    }
  }
  // The next run meets unread differences again; differences that cannot be repaired return every
  // day.
  if (unread === 0) await moveCursor(db, CURSOR, now)
  if (unread === 0 && isWhole) await moveCursor(db, WHOLE_CURSOR, now)
  return { repaired, failed }
}

/** Charges come first: they create the rows that refunds and disputes refer to. */
export async function* findDisagreements(deps: Deps, since: Instant): AsyncGenerator<Found> {
  const processor = requireProcessor(deps.processor)
  const params = { created: { gte: Math.floor(Date.parse(since) / 1000) }, limit: PAGE }
  const charges = listAllWithFees((wanted) => processor.charges.list(wanted), params)
  for await (const page of splitPages(charges)) yield* checkCharges(deps, page)
  const refunds = listAllWithFees((wanted) => processor.refunds.list(wanted), params)
  for await (const page of splitPages(refunds)) yield* checkRefunds(deps, page)
  for await (const disputes of splitPages(processor.disputes.list(params)))
    yield* checkDisputes(deps, disputes)
  const invoices = processor.invoices.list({ ...params, expand: [`data.${WITH_PAYMENTS}`] })
  for await (const page of splitPages(invoices)) yield* checkInvoices(deps, page)
}

async function* splitPages<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const item of items) {
    page.push(item)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

async function* checkCharges(deps: Deps, charges: readonly Stripe.Charge[]): AsyncGenerator<Found> {
  const paid = charges.flatMap((charge) => {
    const id = readId(charge.payment_intent)
    return charge.status === 'succeeded' && id
      ? [{ id, charge, customer: readId(charge.customer) }]
      : []
  })
  const rows = await readPayments(deps.db, paid)
  const owners = await findOwnerIds(
    deps.db,
    paid.flatMap(({ customer }) => customer ?? []),
  )
  const sold = paid.flatMap(({ id, charge: { metadata } }) => {
    const { guest = null, tier } = metadata ?? {}
    const userId = metadata?.user_id || null
    return tier && (userId || guest) ? [{ id, userId, guest, tier }] : []
  })
  for (const seller of deps.sellers) {
    for (const id of await seller.findUnrecorded(deps.db, sold)) {
      const sales = sold.filter((sale) => sale.id === id)
      const userId = sales[0]?.userId ?? null
      const repair = async () => {
        await seller.record(id)
        return (await seller.findUnrecorded(deps.db, sales)).length === 0
      }
      yield { about: 'purchase', id, user_id: userId, ours: 'none', theirs: 'paid', repair }
    }
  }
  for (const { id, charge, customer } of paid) {
    const row = rows.get(id)
    const owner = owners.get(customer ?? '')
    if (!owner && !row) continue
    const amount = charge.amount_captured || charge.amount
    // A payment without a known user adds nothing.
    const isSame = row && row.amount_cents === amount && row.paid_at !== null
    // A fee can become known after its payment; that is no disagreement.
    if (isSame && (row.kind !== null || !owner)) {
      await fillInFee(deps.db, 'payments', row, readFee(charge))
      continue
    }
    yield {
      about: 'payment',
      id,
      user_id: row?.user_id ?? owner ?? null,
      ours: row?.paid_at ? `${row.amount_cents} ${row.currency}` : 'none',
      theirs: `${amount} ${charge.currency}`,
      repair: () => refreshPayment(deps, id),
    }
  }
}

async function* checkRefunds(deps: Deps, refunds: readonly Stripe.Refund[]): AsyncGenerator<Found> {
  const listed = refunds.flatMap((refund) => {
    const id = readId(refund.payment_intent)
    return id ? [{ id, refund }] : []
  })
  const payments = await readPayments(deps.db, listed)
  const saved = await deps.db
    .selectFrom('refunds')
    .select(['id', 'status', 'fee_cents'])
    .where('id', 'in', orPlaceholder(refunds.map(({ id }) => id)))
    .execute()
  for (const { id, refund } of listed) {
    const payment = payments.get(id)
    const row = saved.find((one) => one.id === refund.id)
    const ours = row?.status ?? 'none'
    if (row) await fillInFee(deps.db, 'refunds', row, readFee(refund))
    if (!payment || ours === refund.status) continue
    yield {
      about: 'refund',
      id: refund.id,
      user_id: payment.user_id,
      ours,
      theirs: `${refund.status}, ${refund.amount} ${refund.currency}`,
      repair: () => refreshPayment(deps, id),
    }
  }
}

async function* checkDisputes(
  deps: Deps,
  disputes: readonly Stripe.Dispute[],
): AsyncGenerator<Found> {
  const listed = disputes.flatMap((dispute) => {
    const id = readId(dispute.payment_intent)
    return id ? [{ id, dispute }] : []
  })
  const payments = await readPayments(deps.db, listed)
  const saved = await deps.db
    .selectFrom('disputes')
    .select(['id', 'status', 'fee_cents'])
    .where('id', 'in', orPlaceholder(disputes.map(({ id }) => id)))
    .execute()
  for (const { id, dispute } of listed) {
    const payment = payments.get(id)
    const row = saved.find((one) => one.id === dispute.id)
    const ours = row?.status ?? 'none'
    if (row) await fillInFee(deps.db, 'disputes', row, readFee(dispute))
    const theirs = readDisputeStatus(dispute)
    if (!payment || ours === theirs) continue
    yield {
      about: 'dispute',
      id: dispute.id,
      user_id: payment.user_id,
      ours,
      theirs,
      repair: () => refreshPayment(deps, id),
    }
  }
}

async function* checkInvoices(
  deps: Deps,
  invoices: readonly Stripe.Invoice[],
): AsyncGenerator<Found> {
  const sent = invoices.filter(({ status }) => status !== 'draft')
  const rows: InvoiceRow[] = await deps.db
    .selectFrom('invoices')
    .selectAll()
    .where('id', 'in', orPlaceholder(sent.map(({ id }) => id)))
    .execute()
  const owners = await findOwnerIds(
    deps.db,
    sent.flatMap(({ customer }) => readId(customer) ?? []),
  )
  for (const invoice of sent) {
    const saved = rows.find(({ id }) => id === invoice.id)
    const owner = owners.get(readId(invoice.customer) ?? '')
    if ((!saved && !owner) || (saved && isUnchanged(saved, invoice))) continue
    yield {
      about: 'invoice',
      id: invoice.id,
      user_id: saved?.user_id ?? owner ?? null,
      ours: saved ? saved.status : 'none',
      theirs: String(invoice.status),
      repair: () => lockAndSaveInvoice(deps, invoice),
    }
  }
}

async function readPayments(
  db: Db,
  ids: readonly { id: string }[],
): Promise<Map<string, PaymentRow>> {
  const rows = await db
    .selectFrom('payments')
    .selectAll()
    .where('id', 'in', orPlaceholder(ids.map(({ id }) => id)))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** SQL allows no empty list. */
const orPlaceholder = (ids: readonly string[]): readonly string[] => (ids.length > 0 ? ids : [''])
