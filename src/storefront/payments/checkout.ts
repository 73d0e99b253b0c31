/**
 * The hosted checkout of one sale. A buyer has at most one open checkout per tier, and one per
 * purchase that is upgraded or renewed, stored as a row.
 * A second tab, or a second click while a bank debit settles, returns the same checkout. The
 * attempt's id is the processor's idempotency key, so two simultaneous calls create one session.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { countCheckout } from '#billing/metrics/checkout-days.ts'
import {
  isFinalAnswer,
  isInvalid,
  isMissingCustomer,
  isUnderWay,
  mapProcessorErrors,
  requireProcessor,
} from '#billing/processor.ts'
import { stripeSdk } from '#billing/stripe-sdk.ts'
import { isTaxCurrent } from '#billing/tax.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { findUser } from '#identity/users.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { Problem } from '#platform/problem.ts'
import { storefrontProblem } from '../problems.ts'
import * as purchaseStore from '../purchases/store.ts'
import { buildSession, matchesSale, type Payer, type Sale } from './checkout-session.ts'
import {
  FOLLOW_UP_JOB,
  isSettling,
  type PaymentDeps,
  recordCheckout,
  retrieveCheckout,
} from './payments.ts'
import '../tables.ts'

const TRIES_MAX = 3
/** Delay before the row is read again while another tab calls the processor. */
const UNDER_WAY_MS = 500

/** The name of a sale's row: a purchase can be paid into one upgrade or renewal at a time. */
const nameSale = ({ product, from }: Sale) => (from ? buildFromName(from.id) : product.tier)
export const buildFromName = (purchaseId: string) => `from:${purchaseId}`

/**
 * Returns the URL where the buyer pays for a sale: their open checkout, or a new one. For a
 * completed or settling payment returns its confirmation page, so that the buyer does not pay
 * twice. @throws Problem 503 without a processor, 502 or 503 when it cannot be reached.
 */
export async function checkoutAddress(
  deps: PaymentDeps,
  userId: string,
  sale: Sale,
): Promise<string> {
  const about = nameSale(sale)
  const { tier } = sale.product
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const row = await findAttempt(deps.db, { userId, about, tier })
    const { attempt, session_id } = row
    try {
      const address = await (session_id
        ? findCheckoutUrl(deps, session_id, userId, sale)
        : openSession(deps, userId, sale, attempt))
      if (address) return address
      if (session_id) await beginAnew(deps.db, { userId, about }, row)
    } catch (error) {
      await recoverAttempt(deps, { userId, about, row, sale }, error)
    }
  }
  throw storefrontProblem('checkout_busy', { headers: { 'Retry-After': '5' } })
}

/** Prepares another try. @throws the error when none can succeed. */
async function recoverAttempt(
  { db }: Pick<PaymentDeps, 'db'>,
  { userId, about, row, sale }: Place & { row: Attempt; sale: Sale },
  error: unknown,
): Promise<void> {
  const cause = error instanceof Problem ? error.cause : error
  // A new attempt would create a second checkout. So this tab waits for the URL that the first tab
  // gets.
  if (isUnderWay(cause)) {
    await sleep(UNDER_WAY_MS)
    return
  }
  if (row.session_id === null && isFinalAnswer(cause)) await beginAnew(db, { userId, about }, row)
  if (sale.promotion && isInvalid(cause)) throw storefrontProblem('promotion_code_unusable')
  if (!isOutOfStep(cause)) throw error
}

/** Returns null when the session has ended or is for another sale or price. */
async function findCheckoutUrl(
  deps: PaymentDeps,
  sessionId: string,
  userId: string,
  sale: Sale,
): Promise<string | null> {
  const processor = requireProcessor(deps.processor)
  const session = await mapProcessorErrors(retrieveCheckout(processor, sessionId))
  if (!session) return null
  if (session.status === 'open') {
    if (
      matchesSale(deps.config, session, { user_id: userId }, sale) &&
      isTaxCurrent(deps.config.processor, session)
    )
      return session.url
    await mapProcessorErrors(processor.checkout.sessions.expire(sessionId))
    return null
  }
  const confirmation = `/dashboard?success=true&session_id=${sessionId}`
  if (isSettling(session, deps.clock.ms())) return confirmation
  const purchase = await recordCheckout(deps, session)
  return purchase?.status === 'completed' ? confirmation : null
}

/**
 * Returns null when another tab has stored its session meanwhile. The new session's URL is never
 * shown, so it is never paid.
 */
async function openSession(
  deps: PaymentDeps,
  userId: string,
  sale: Sale,
  attempt: string,
): Promise<string | null> {
  const { config, db, clock, jobs, processor } = deps
  const user = await findUser(db, userId)
  const about = nameSale(sale)
  const { tier } = sale.product

  const language = user?.locale ? { locale: user.locale } : {}
  const open = (payer: Omit<Payer, 'locale'>) =>
    requireProcessor(processor).checkout.sessions.create(
      {
        ...buildSession(config, sale, { user_id: userId }, { ...payer, ...language }),
        client_reference_id: userId,
        success_url: `${config.urls.storefront}/dashboard?success=true&session_id={CHECKOUT_SESSION_ID}`,
      },
      { idempotencyKey: `store-checkout-${attempt}${payer.customer ? `-${payer.customer}` : ''}` },
    )
  const byEmail = user ? { customer_email: user.email } : {}
  const customer = user?.processor_customer_id
  // If the customer was deleted at the processor, the purchase continues without one; the billing
  // room replaces customers.
  const session = await mapProcessorErrors(
    customer
      ? open({ customer }).catch((error: unknown) => {
          if (!isMissingCustomer(error)) throw error
          return open(byEmail)
        })
      : open(byEmail),
  )
  if (!session.url) throw new Error(`the processor made checkout ${session.id} without an address`)

  const isFirst = await transaction(db, async (tx) => {
    if (!(await keepSession(tx, { userId, about }, attempt, session.id))) return false
    await jobs.enqueue(
      tx,
      FOLLOW_UP_JOB,
      { sessionId: session.id },
      { runAt: plus(clock.now(), HOUR_MS) },
    )
    await countCheckout(tx, 'purchase', clock.now())
    return true
  })
  // Two calls of one attempt have created the same session.
  return isFirst || (await findAttempt(db, { userId, about, tier })).session_id === session.id
    ? session.url
    : null
}

type Attempt = { attempt: string; session_id: string | null }
type Place = { userId: string; about: string }

async function findAttempt(
  db: Db,
  { userId, about, tier }: Place & { tier: Tier },
): Promise<Attempt> {
  const row = db.selectFrom('store_checkouts').select(['attempt', 'session_id'])
  const find = () => row.where('user_id', '=', userId).where('about', '=', about).executeTakeFirst()
  const known = await find()
  if (known) return known
  await db
    .insertInto('store_checkouts')
    .values({ user_id: userId, about, tier, attempt: randomUUID(), session_id: null })
    .onConflict((conflict) => conflict.columns(['user_id', 'about']).doNothing())
    .execute()
  // If two tabs insert at once, both continue with the first row.
  return (await find()) ?? { attempt: randomUUID(), session_id: null }
}

/**
 * Stores the session of the attempt. Returns false when another tab has already stored one or
 * started a new attempt.
 */
async function keepSession(tx: Db, { userId, about }: Place, attempt: string, sessionId: string) {
  const updated = await tx
    .updateTable('store_checkouts')
    .set({ session_id: sessionId })
    .where('user_id', '=', userId)
    .where('about', '=', about)
    .where('attempt', '=', attempt)
    .where('session_id', 'is', null)
    .returning('attempt')
    .executeTakeFirst()
  return updated !== undefined
}

/**
 * Starts a new attempt, unless the row has changed since it was read: another tab may have stored
 * the session of the attempt that failed here.
 */
async function beginAnew(
  db: Db,
  { userId, about }: Place,
  { attempt, session_id }: Attempt,
): Promise<void> {
  await db
    .updateTable('store_checkouts')
    .set({ attempt: randomUUID(), session_id: null })
    .where('user_id', '=', userId)
    .where('about', '=', about)
    .where('attempt', '=', attempt)
    .where('session_id', session_id === null ? 'is' : '=', session_id)
    .execute()
}

/**
 * Closes the open upgrades and renewals of a license after a refund or a lost dispute of one of its
 * payments: their prices count the whole payment. Those of a bundle's products are closed, too.
 */
export async function closeCheckouts(
  { db, processor }: Pick<PaymentDeps, 'db' | 'processor'>,
  { userId, purchaseId }: { userId: string; purchaseId: string },
): Promise<void> {
  const purchase = await purchaseStore.findOfUser(db, userId, purchaseId)
  if (!purchase || !processor) return
  const parts = [purchase, ...(await purchaseStore.listMembers(db, purchase))]
  const chains = await Promise.all(parts.map((part) => purchaseStore.listChain(db, part)))
  const rows = await db
    .selectFrom('store_checkouts')
    .select('session_id')
    .where('user_id', '=', userId)
    .where(
      'about',
      'in',
      chains.flat().map(({ id }) => buildFromName(id)),
    )
    .execute()
  for (const { session_id } of rows) {
    const session = session_id ? await retrieveCheckout(processor, session_id) : null
    if (session?.status === 'open') await processor.checkout.sessions.expire(session.id)
  }
}

export async function forgetCheckouts(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('store_checkouts').where('user_id', '=', userId).execute()
}

/**
 * Returns true when the processor rejects an idempotency key that it knows with other parameters,
 * because the account has changed since another tab started the attempt.
 */
function isOutOfStep(error: unknown): boolean {
  return error instanceof stripeSdk().errors.StripeIdempotencyError
}
