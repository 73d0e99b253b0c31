/**
 * Price changes by the operator: a deal for one customer, and moving subscribers from an old price
 * to a new one. The new price applies from the next period, after an email announces it.
 */
import type { Stripe } from 'stripe'
import { recordAudit } from '#audit/audit.ts'
import { FREE, type Interval, type Tier } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { formatPlanPrice, priceMovesEmail } from '#mail/billing-emails.ts'
import { transaction } from '#platform/db/db.ts'
import { formatDate } from '#platform/locale.ts'
import { inMinorUnits } from '#platform/money.ts'
import { type Account, findAccount, toInstant } from './accounts.ts'
import { type Deal, saveDeal } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { sendNotice } from './notices.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import { runInBatches } from './reconciliation.ts'
import { readFacts } from './subscription-facts.ts'
import { isLive } from './subscription-state.ts'
import { syncUser } from './sync.ts'

/** An error that the command line shows without a stack. */
export class PriceProblem extends Error {}

export type DealRequest = { tier: Tier; interval: Interval; amount: number }

/**
 * Creates the price at the processor and saves the deal. The customer accepts it on the billing
 * page, by a checkout or a plan change.
 * @throws PriceProblem
 */
export async function makeDeal(
  deps: BillingDeps,
  user: User,
  { tier, interval, amount }: DealRequest,
): Promise<Deal> {
  const { config, db, clock } = deps
  const plan = config.catalogue.plans.find((item) => item.tier === tier)
  const listed = plan && (plan.prices[interval] ?? Object.values(plan.prices)[0])
  if (!plan || tier === FREE || !listed) throw new PriceProblem(`no plan '${tier}' is on sale`)
  if (!Number.isFinite(amount) || amount <= 0)
    throw new PriceProblem('a deal needs an amount above 0')
  const { prices } = requireProcessor(deps.processor)
  const { product, currency, tax_behavior } = await prices.retrieve(listed)
  const created = await prices.create({
    product: typeof product === 'string' ? product : product.id,
    currency,
    unit_amount: inMinorUnits(amount, currency),
    recurring: { interval },
    // Treats tax as the listed price does.
    ...(tax_behavior === null || tax_behavior === 'unspecified' ? {} : { tax_behavior }),
    nickname: `${plan.name}, a deal`,
    metadata: { user_id: user.id, tier },
  })
  const deal: Deal = {
    price_id: created.id,
    user_id: user.id,
    tier,
    interval,
    amount_cents: inMinorUnits(amount, currency),
    currency,
    created_at: clock.now(),
  }
  await transaction(db, async (tx) => {
    if (!(await findUser(tx, user.id))) throw new PriceProblem('the account was deleted')
    await saveDeal(tx, deal)
    const data = { tier, interval, amount_cents: deal.amount_cents, currency, price: created.id }
    await recordAudit(tx, {
      actorId: null,
      action: 'billing.deal_made',
      subject: `user:${user.id}`,
      data,
      at: clock.now(),
    })
  })
  return deal
}

export type Move = { moved: number; skipped: string[]; failed: number }

/** Returns the users who would be moved. @throws PriceProblem when the two prices do not match. */
export async function listSubscribers(
  deps: BillingDeps,
  from: string,
  to: string,
): Promise<string[]> {
  const { prices } = requireProcessor(deps.processor)
  const sold = deps.config.processor.prices.get(to)
  if (!sold) throw new PriceProblem(`'${to}' is not in the catalogue: add it there first`)
  if (from === to) throw new PriceProblem('the two prices are the same')
  const [before, after] = await Promise.all(
    [from, to].map((id) => nullIfMissing(prices.retrieve(id))),
  )
  if (!before || !after)
    throw new PriceProblem(`the processor has no price '${before ? to : from}'`)
  if (before.currency !== after.currency)
    throw new PriceProblem('the two prices are in different currencies')
  if (before.recurring?.interval !== after.recurring?.interval)
    throw new PriceProblem('the two prices are for different intervals')
  const rows = await deps.db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where('price_id', '=', from)
    .where('processor_status', 'in', ['active', 'trialing', 'past_due', 'unpaid', 'paused'])
    .orderBy('user_id')
    .execute()
  return rows.map(({ user_id }) => user_id)
}

/** Moves subscribers from the next period on. A repeated call moves only the remaining ones. */
export async function movePrice(deps: BillingDeps, from: string, to: string): Promise<Move> {
  const users = await listSubscribers(deps, from, to)
  const move: Move = { moved: 0, skipped: [], failed: 0 }
  const outcomes = await runInBatches(users, (userId) => moveSubscriber(deps, userId, { from, to }))
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') move.failed++
    else if (outcome.value === null) move.moved++
    else move.skipped.push(outcome.value)
  }
  const wrong = outcomes.find((outcome) => outcome.status === 'rejected')
  if (wrong)
    deps.log.warn({ err: wrong.reason, failed: move.failed }, 'subscribers could not be moved')
  return move
}

/** Returns null when moved, otherwise the reason. */
async function moveSubscriber(
  deps: BillingDeps,
  userId: string,
  { from, to }: { from: string; to: string },
) {
  const { subscriptions } = requireProcessor(deps.processor)
  await syncUser(deps, userId)
  const account = await findAccount(deps.db, userId)
  const user = await findUser(deps.db, userId)
  const id = account?.subscription_id
  if (!user || !id) return 'gone'
  const subscription = await subscriptions.retrieve(id)
  const item = subscription.items.data.find(({ price }) => price.id === from)
  if (!item || !isLive(readFacts(subscription))) return `${user.email}: no longer pays this price`
  if (readFacts(subscription).cancelAtPeriodEnd)
    return `${user.email}: subscription is about to end`
  if (account.granted_tier !== deps.config.processor.prices.get(to)?.tier)
    return `${user.email}: has another plan`

  // The email precedes the move, so every moved subscriber was notified. A failed move is retried
  // without a second email.
  await sendMoveNotice(deps, { user, account, item, to })
  await subscriptions.update(id, {
    items: [{ id: item.id, price: to }],
    proration_behavior: 'none',
  })
  await syncUser(deps, userId)
  return null
}

type Moving = { user: User; account: Account; item: Stripe.SubscriptionItem; to: string }

async function sendMoveNotice(
  deps: BillingDeps,
  { user, account, item, to }: Moving,
): Promise<void> {
  const {
    unit_amount: cents,
    currency,
    recurring,
  } = await requireProcessor(deps.processor).prices.retrieve(to)
  const price_cents = cents === null ? null : cents * (item.quantity ?? 1)
  const price = { price_cents, currency, interval: recurring?.interval ?? null }
  const changesAt = toInstant(item.current_period_end)
  const plan = findPlanName(deps, account.granted_tier)
  const locale = user.locale ?? deps.config.brand.language
  const email = priceMovesEmail(deps.config, {
    user,
    plan,
    before: formatPlanPrice(account, locale),
    amount: formatPlanPrice(price, locale),
    on: formatDate(changesAt, locale),
  })
  const about = `price_moves:${account.subscription_id}:${to}:${changesAt.slice(0, 10)}`
  await transaction(deps.db, (tx) => sendNotice(deps, tx, user.id, about, email))
}

const findPlanName = ({ config }: Pick<BillingDeps, 'config'>, tier: Tier | null): string =>
  config.catalogue.plans.find((plan) => plan.tier === tier)?.name ?? tier ?? ''
