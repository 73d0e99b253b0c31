/**
 * Synchronizes purchases with the payment processor: by its events, by a request when the buyer
 * returns, and by later checks. All three use the same idempotent function, so their order and
 * repetition do not matter.
 */
import type { Stripe } from 'stripe'
import { receiveMoneyEvent } from '#billing/money/money-events.ts'
import type { Sold } from '#billing/money/proof.ts'
import { readId, readText } from '#billing/object-reader.ts'
import {
  mapProcessorErrors,
  nullIfMissing,
  type Processor,
  requireProcessor,
} from '#billing/processor.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { InboxEvent } from '#platform/jobs/inbox.ts'
import { parseAcceptLanguage } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import type { Secrets } from '#platform/secrets.ts'
import type { Listed } from '../products/product-list.ts'
import type { Buyer } from '../purchases/emails.ts'
import type { Payment } from '../purchases/new-purchase.ts'
import { recordPurchase } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import {
  INBOX_SOURCE,
  type PaymentEvent,
  parsePaymentEvent,
  paymentOfCheckout,
} from './payment-events.ts'
import { hasCheckout } from './store.ts'

export const FOLLOW_UP_JOB = 'storefront.follow-up-checkout'

export type PaymentDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'inbox' | 'log' | 'business'
> &
  Listed & {
    /** Null: billing is not configured. */
    processor: Processor | null
  }

/** Stores an event in the inbox and applies it. */
export async function receivePaymentEvent(
  { inbox }: Pick<PaymentDeps, 'inbox'>,
  sent: Stripe.Event,
): Promise<void> {
  if (await receiveMoneyEvent({ inbox }, sent)) return
  const event = parsePaymentEvent(sent)
  if (event) await inbox.receive(INBOX_SOURCE, sent.id, event)
}

/**
 * Idempotent: an event may be applied twice. @throws when the processor cannot be reached; the
 * inbox tries again.
 */
export async function applyPaymentEvent(
  deps: PaymentDeps,
  event: PaymentEvent,
  settle?: InboxEvent['settle'],
): Promise<void> {
  if (event.kind === 'paid') return record(deps, event.payment, settle)
  const session = await findCheckout(deps, event.paymentIntentId)
  // The payment is known to be made, but the session may not show it yet.
  const payment =
    session &&
    paymentOfCheckout({ ...session, payment_status: 'paid', payment_intent: event.paymentIntentId })
  return payment ? record(deps, payment, settle) : undefined
}

/**
 * `pending`: it may still be paid. `unknown`: there is nothing to wait for. It does not reveal
 * whether such a checkout exists.
 */
export type CheckoutState = 'paid' | 'settling' | 'pending' | 'unknown'

/**
 * Reads a checkout from the processor and records its payment. Returns `unknown` for another user's
 * session.
 */
export async function confirmCheckout(
  deps: PaymentDeps,
  sessionId: string,
  userId: string,
): Promise<CheckoutState> {
  const known = await purchaseStore.findByCheckoutSession(deps.db, sessionId)
  if (known) return known.user_id === userId ? 'paid' : 'unknown'
  if (!deps.processor || !/^cs_\w{1,250}$/.test(sessionId)) return 'unknown'

  const session = await retrieveCheckout(deps.processor, sessionId)
  if (!session || session.metadata?.user_id !== userId) return 'unknown'
  return readState(deps, session)
}

/** Like `confirmCheckout`, for anyone who has the id of a guest's checkout. The reply has no address. */
export async function confirmGuestCheckout(
  deps: PaymentDeps,
  sessionId: string,
): Promise<CheckoutState> {
  if (!deps.processor || !/^cs_\w{1,250}$/.test(sessionId)) return 'unknown'
  const session = await retrieveCheckout(deps.processor, sessionId)
  if (!session?.metadata?.guest || session.metadata.user_id) return 'unknown'
  return readState(deps, session)
}

async function readState(deps: PaymentDeps, session: Stripe.Checkout.Session) {
  if (await recordCheckout(deps, session)) return 'paid'
  if (isSettling(session, deps.clock.ms())) return 'settling'
  return session.status === 'open' ? 'pending' : 'unknown'
}

/**
 * Returns the purchase of a checkout, and records it if it was paid but not recorded. Null while it
 * is not paid.
 */
export async function recordCheckout(
  deps: PaymentDeps,
  session: Stripe.Checkout.Session,
): Promise<PurchaseRow | null> {
  const payment = paymentOfCheckout(session)
  if (!payment) return null
  await record(deps, payment)
  return (await purchaseStore.findByPayment(deps.db, payment.ref)) ?? null
}

/**
 * Returns true while a payment may still complete: its bank has not confirmed it (days for some
 * debits), or its payer must act (micro-deposits, a transfer, a voucher). Many of the latter are
 * never paid, so they count for two weeks only.
 */
export function isSettling(session: Stripe.Checkout.Session, nowMs: number): boolean {
  const { status, payment_status, payment_intent } = session
  if (status !== 'complete' || payment_status !== 'unpaid') return false
  const step = typeof payment_intent === 'object' ? payment_intent?.status : null
  const waitsMs = step ? SETTLES_WITHIN_MS[step] : undefined
  return waitsMs !== undefined && nowMs - session.created * 1000 <= waitsMs
}

const SETTLES_WITHIN_MS: Partial<Record<Stripe.PaymentIntent.Status, number>> = {
  processing: 30 * DAY_MS,
  requires_action: 14 * DAY_MS,
}

/**
 * Checks a checkout daily until it has ended, in case every webhook is lost and the buyer does not
 * return.
 */
export async function followUpCheckout(deps: PaymentDeps, sessionId: string): Promise<void> {
  const { processor, db, clock, jobs } = deps
  const session = processor && (await retrieveCheckout(processor, sessionId))
  if (!session || (await recordCheckout(deps, session))) return
  if (session.status !== 'open' && !isSettling(session, clock.ms())) return
  const runAt = plus(clock.now(), DAY_MS)
  // The key prevents two follow-ups when this job runs twice.
  await jobs.enqueue(
    db,
    FOLLOW_UP_JOB,
    { sessionId },
    { runAt, key: `${FOLLOW_UP_JOB}:${sessionId}:${runAt.slice(0, 10)}` },
  )
}

/**
 * Reads the email address entered at the checkout and the page's language from the processor, because it is not stored
 * here. Null when there is none.
 */
export async function findPayer(deps: PaymentDeps, purchase: PurchaseRow): Promise<Buyer | null> {
  return readPayer(await checkoutOfPurchase(deps, purchase))
}

function readPayer(session: Stripe.Checkout.Session | null): Buyer | null {
  const email = session?.customer_details?.email ?? session?.customer_email ?? null
  return email === null
    ? null
    : { id: null, email, locale: parseAcceptLanguage(session?.locale ?? undefined) }
}

/** Returns the URL of the processor's invoice page; null when the sale has no invoice. */
export async function findInvoiceUrl(
  deps: PaymentDeps,
  purchase: PurchaseRow,
): Promise<string | null> {
  const id = readId((await checkoutOfPurchase(deps, purchase))?.invoice)
  const invoice =
    id && deps.processor ? await nullIfMissing(deps.processor.invoices.retrieve(id)) : null
  return readText(invoice, 'hosted_invoice_url')
}

/**
 * Returns the address of the invoice's PDF, or of the processor's receipt where the sale has no
 * invoice; null when it was free. @throws Problem 502 or 503 when the processor fails.
 */
export async function findReceiptUrl(
  deps: PaymentDeps,
  purchase: PurchaseRow,
): Promise<string | null> {
  if (purchaseStore.isUnpaid(purchase)) return null
  const { invoices, charges } = requireProcessor(deps.processor)
  return mapProcessorErrors(
    (async () => {
      const id = readId((await checkoutOfPurchase(deps, purchase))?.invoice)
      const invoice = id ? await nullIfMissing(invoices.retrieve(id)) : null
      const pdf = readText(invoice, 'invoice_pdf')
      if (pdf !== null || !purchase.payment_ref.startsWith('pi_')) return pdf
      const { data } = await charges.list({ payment_intent: purchase.payment_ref, limit: 10 })
      return readText(data.find(({ status }) => status === 'succeeded') ?? null, 'receipt_url')
    })(),
  )
}

async function checkoutOfPurchase(deps: PaymentDeps, purchase: PurchaseRow) {
  if (purchaseStore.isUnpaid(purchase)) return null
  return purchase.checkout_session_id
    ? deps.processor && (await retrieveCheckout(deps.processor, purchase.checkout_session_id))
    : findCheckout(deps, purchase.payment_ref)
}

/** Returns the shop's payments that have no purchase yet. */
export async function unrecordedPayments(
  { productList, secrets }: Listed & Pick<PaymentDeps, 'secrets'>,
  db: Db,
  sold: readonly Sold[],
): Promise<string[]> {
  const known = new Set(
    await purchaseStore.recordedPayments(
      db,
      sold.map(({ id }) => id),
    ),
  )
  const missing: string[] = []
  for (const { id, ...sale } of sold) {
    if (!known.has(id) && (await isOurs({ productList, db, secrets }, sale))) missing.push(id)
  }
  return missing
}

async function record(
  deps: PaymentDeps,
  payment: Payment,
  settle?: InboxEvent['settle'],
): Promise<void> {
  if (!(await isOurs(deps, payment))) return
  const { checkoutSessionId, userId } = payment
  const guest =
    userId === null && checkoutSessionId !== null && deps.processor
      ? readPayer(await retrieveCheckout(deps.processor, checkoutSessionId))
      : null
  await recordPurchase(deps, payment, guest, settle)
}

/**
 * A product removed from the catalogue while its buyer paid is still delivered; other sellers'
 * payments are skipped.
 */
async function isOurs(
  { productList, db, secrets }: Pick<PaymentDeps, 'productList' | 'db' | 'secrets'>,
  { userId, guest, tier }: Pick<Payment, 'userId' | 'guest' | 'tier'>,
) {
  if (userId === null) return guest === markGuest(secrets, tier)
  return productList.find(tier) !== undefined || (await hasCheckout(db, userId, tier))
}

/**
 * Returns the mark of a guest's checkout. It needs this service's key, so that payments of another
 * shop on the same processor account are not delivered here.
 */
export function markGuest(secrets: Secrets, tier: Tier): string {
  return secrets.hash('guest-checkout', tier)
}

/**
 * Returns null when the processor does not have this checkout, because the id is invented or the
 * sandbox was reset.
 */
export function retrieveCheckout(processor: Processor, id: string) {
  return nullIfMissing(processor.checkout.sessions.retrieve(id, { expand: ['payment_intent'] }))
}

async function findCheckout({ processor }: PaymentDeps, paymentIntentId: string) {
  if (!processor) return null
  const { data } = await processor.checkout.sessions.list({
    payment_intent: paymentIntentId,
    limit: 1,
  })
  return data[0] ?? null
}
