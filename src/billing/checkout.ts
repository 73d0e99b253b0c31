/** Links to the processor's hosted pages: checkout, portal, and payment of an invoice. */
import type { Stripe } from 'stripe'
import { findUser, type User } from '#identity/users.ts'
import { unauthenticated } from '#platform/problems.ts'
import { type Account, findAccount, recordCheckout } from './accounts.ts'
import { dropCustomer, ensureCustomer, listCustomers, readCustomerState } from './customers.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { readInvoices } from './invoice-list.ts'
import { readId } from './object-reader.ts'
import { billingProblem } from './problems.ts'
import {
  isInvalid,
  isMissingCustomer,
  mapProcessorErrors,
  nullIfMissing,
  requireProcessor,
} from './processor.ts'
import { FIRST_TRIAL } from './subscription-facts.ts'
import { isLive } from './subscription-state.ts'
import { buildTaxParameters } from './tax.ts'
import { computeTrialDays } from './trials.ts'

/**
 * Returns the checkout's URL.
 * @throws Problem 400 `Unknown price`, 403 when a trial needs a verified address, 503 `Billing is
 * not configured`, 502 or 503 when the processor fails.
 */
export async function openCheckout(
  deps: BillingDeps,
  userId: string,
  { priceId, promotionCode }: { priceId: string; promotionCode?: string | undefined },
): Promise<string> {
  const processor = requireProcessor(deps.processor)
  const sold = (await readPrices(deps, deps.db, userId)).get(priceId)
  const plan = deps.config.catalogue.plans.find(({ tier }) => tier === sold?.tier)
  if (!sold || !plan) throw billingProblem('unknown_price')
  const promotion =
    promotionCode === undefined
      ? null
      : await mapProcessorErrors(findPromotion(deps, userId, promotionCode))
  await recordCheckout(deps, userId)
  return mapProcessorErrors(
    withCustomer(deps, userId, async (user) => {
      const account = await findAccount(deps.db, userId)
      const trialDays = await computeTrialDays(deps, plan, { user, account })
      // Billing at once instead would charge users who were promised a trial.
      if (trialDays > 0 && !user.is_verified) throw billingProblem('trial_needs_verified_email')
      const session = await processor.checkout.sessions.create({
        mode: 'subscription',
        customer: await ensureCustomer(deps, processor, user),
        client_reference_id: userId,
        line_items: [{ price: priceId, quantity: 1 }],
        ...(promotion
          ? { discounts: [{ promotion_code: promotion }] }
          : buildPromotionEntry(account)),
        // Other payment methods may lack the fingerprint that limits trials to one per person.
        ...(trialDays > 0 ? { payment_method_types: ['card' as const] } : {}),
        metadata: { user_id: userId, price_id: priceId },
        ...buildTaxParameters(deps.config.processor, {
          mode: 'subscription',
          hasCustomer: true,
          metadata: {},
        }),
        subscription_data: {
          metadata: { user_id: userId, ...(trialDays > 0 ? { [FIRST_TRIAL]: 'true' } : {}) },
          ...(trialDays > 0 ? buildTrialParameters(trialDays) : {}),
        },
        success_url: `${deps.config.urls.frontend}/dashboard?success=true`,
        cancel_url: `${deps.config.urls.frontend}/pricing?canceled=true`,
      })
      return requireUrl(session)
    }),
  )
}

/**
 * Requires a card at the start (the checkout's default), so that the trial can become a
 * subscription.
 */
const buildTrialParameters = (days: number) => ({
  trial_period_days: days,
  trial_settings: { end_behavior: { missing_payment_method: 'cancel' as const } },
})

/**
 * A code typed on the checkout page is only visible after payment. Users who had a subscription,
 * and perhaps used the code, must send it with the request.
 */
const buildPromotionEntry = (account: Account | null) =>
  account?.subscription_id ? {} : { allow_promotion_codes: true }

/**
 * Returns the promotion's id. The processor limits a code's total uses; the limit of one use per
 * person is checked here against paid checkouts.
 */
async function findPromotion(deps: BillingDeps, userId: string, code: string): Promise<string> {
  const { promotionCodes, checkout } = requireProcessor(deps.processor)
  const [found] = (await promotionCodes.list({ code, active: true, limit: 1 })).data
  if (!found) throw billingProblem('unknown_promotion_code')
  for (const { customer_id: customer } of await listCustomers(deps.db, userId)) {
    const paid = await nullIfMissing(
      checkout.sessions.list({
        customer,
        status: 'complete',
        limit: 100,
        expand: ['data.subscription'],
      }),
    )
    if (paid?.data.some((session) => hasUsed(session, found.id)))
      throw billingProblem('promotion_code_used')
  }
  return found.id
}

/** A payment that failed after the checkout does not use up the code. */
function hasUsed({ discounts, subscription }: Stripe.Checkout.Session, promotion: string): boolean {
  const status = typeof subscription === 'string' ? null : subscription?.status
  return (
    status !== 'incomplete_expired' &&
    (discounts ?? []).some((discount) => readId(discount.promotion_code) === promotion)
  )
}

/** Pages of the portal that a link can open directly. */
export const PORTAL_FLOWS = ['card', 'cancel'] as const
export type PortalFlow = (typeof PORTAL_FLOWS)[number]

/**
 * Returns the portal's URL.
 * @throws Problem 400 `No billing account found`, 409 without a subscription to cancel, 503
 * `Billing is not configured`.
 */
export async function openPortal(
  deps: BillingDeps,
  userId: string,
  flow: PortalFlow | null = null,
): Promise<string> {
  const processor = requireProcessor(deps.processor)
  const page = flow === null ? 'dashboard' : 'billing'
  const opening = withCustomer(deps, userId, async (user) => {
    if (user.processor_customer_id === null) throw billingProblem('no_billing_account')
    const customer = await ensureCustomer(deps, processor, user)
    const open = async (coupon: string | null) =>
      processor.billingPortal.sessions.create({
        customer,
        return_url: `${deps.config.urls.frontend}/${page}`,
        ...(flow === null ? {} : { flow_data: await buildFlowData(deps, userId, flow, coupon) }),
      })
    const coupon = flow === 'cancel' ? deps.config.processor.retentionCoupon : null
    if (coupon === null) return open(null)
    return open(coupon).catch((error: unknown) => {
      // A refused coupon must not prevent the cancellation.
      if (!isInvalid(error) || isMissingCustomer(error)) throw error
      deps.log.error(
        { err: error, coupon },
        'the processor refused RETENTION_COUPON; the cancellation page opens without it',
      )
      return open(null)
    })
  })
  return (await mapProcessorErrors(opening)).url
}

async function buildFlowData(
  { db, config }: BillingDeps,
  userId: string,
  flow: PortalFlow,
  coupon: string | null,
): Promise<Stripe.BillingPortal.SessionCreateParams.FlowData> {
  const after_completion = {
    type: 'redirect',
    redirect: { return_url: `${config.urls.frontend}/billing` },
  }
  if (flow === 'card') return { type: 'payment_method_update', after_completion }
  const account = await findAccount(db, userId)
  const subscription = account?.subscription_id
  if (!account || !subscription || !isLive({ status: account.processor_status ?? '' }))
    throw billingProblem('no_subscription')
  const retention =
    coupon === null
      ? {}
      : { retention: { type: 'coupon_offer' as const, coupon_offer: { coupon } } }
  return {
    type: 'subscription_cancel',
    after_completion,
    subscription_cancel: { subscription, ...retention },
  }
}

/**
 * `plan`: the running plan, or the first payment when none runs. `checkout`: a second checkout
 * while a plan runs.
 */
export const PAYMENTS_FOR = ['plan', 'checkout'] as const
export type PaymentFor = (typeof PAYMENTS_FOR)[number]

/** Returns the page of the newest open invoice; without one, the page that changes the card. */
export async function openPayment(
  deps: BillingDeps,
  userId: string,
  target: PaymentFor = 'plan',
): Promise<string> {
  const open = (await readInvoices(deps, userId)).filter(
    (invoice) => invoice.status === 'open' && invoice.hosted_invoice_url,
  )
  const account = await findAccount(deps.db, userId)
  const running = isLive({ status: account?.processor_status ?? '' })
    ? account?.subscription_id
    : null
  const readSubscriptionId = ({ parent }: Stripe.Invoice) =>
    readId(parent?.subscription_details?.subscription)
  const isForOther = (invoice: Stripe.Invoice) =>
    readSubscriptionId(invoice) !== null && readSubscriptionId(invoice) !== running
  const planInvoice = running
    ? open.find((invoice) => readSubscriptionId(invoice) === running)
    : (open.find(isForOther) ?? open[0])
  const invoice = target === 'checkout' ? open.find(isForOther) : planInvoice
  return invoice?.hosted_invoice_url ?? openPortal(deps, userId, 'card')
}

const CUSTOMERS_TRIED_MAX = 5

/**
 * Retries with another customer of the user, or a new one, when the processor refuses a customer.
 */
async function withCustomer<T>(
  deps: BillingDeps,
  userId: string,
  work: (user: User) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const user = await requireUser(deps, userId)
    const customer = user.processor_customer_id
    try {
      return await work(user)
    } catch (error) {
      if (customer === null || !isMissingCustomer(error) || tries === CUSTOMERS_TRIED_MAX)
        throw error
      const found = await readCustomerState(deps, customer)
      deps.log.warn(
        { userId, customer, found },
        'the processor refused this customer; another one replaces it',
      )
      await dropCustomer(deps, userId, customer, found === 'deleted' ? 'deleted' : 'refused')
    }
  }
}

async function requireUser({ db }: BillingDeps, userId: string): Promise<User> {
  const user = await findUser(db, userId)
  if (!user) throw unauthenticated()
  return user
}

function requireUrl(session: { id: string; url: string | null }): string {
  if (!session.url) throw new Error(`the processor created checkout ${session.id} without a URL`)
  return session.url
}
