/** The subscription plans on the pricing page. Their buttons lead into the app, which sells them. */
import type { PlanView } from '#billing/plans.ts'
import { type Html, html } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import { withCode } from './offers.ts'

export type PlanDeps = { listPlans: () => Promise<PlanView[]> }

export type PlanCardParts = { plans: readonly PlanView[]; frontend: string; code: string | null }

/** Returns the plans if at least one of them is sold, and none otherwise. */
export async function listSoldPlans({ listPlans }: PlanDeps): Promise<PlanView[]> {
  const plans = await listPlans()
  return plans.some(isSold) ? plans.filter((plan) => isSold(plan) || plan.price === 0) : []
}

const isSold = (plan: PlanView) => Boolean(plan.price_monthly ?? plan.price_yearly)

export function planCards({ plans, frontend, code }: PlanCardParts): Html {
  const picked = plans.find(isSold)
  const target = `/register?redirect=${encodeURIComponent(withCode('/pricing', code))}`
  return html`<div class="tiers">${plans.map(
    (
      plan,
    ) => html`<article class="card tier${plan === picked ? ' picked' : ''}" aria-labelledby="plan-${plan.tier}">
<h3 id="plan-${plan.tier}">${plan.name}</h3>
${priceLines(plan)}
<ul class="ticks">${plan.features.map((feature) => html`<li>${feature}</li>`)}</ul>
<a class="button${plan === picked ? '' : ' quiet'}" href="${frontend}${isSold(plan) ? target : '/register'}">${isSold(plan) ? `Get ${plan.name}` : 'Create a free account'}</a>
</article>`,
  )}</div>`
}

/** A plan without a monthly price has its yearly price in front. */
function priceLines(plan: PlanView): Html {
  const { price, price_monthly, amount_yearly, currency = 'usd', trial_days: days } = plan
  const money = (amount: number) => formatMoney(amount, currency, { short: true })
  const trial = days > 0 && html` · ${days}-day free trial`
  if (!isSold(plan)) return html`<p class="price">${money(0)}</p><p class="once">forever</p>`
  const isYearly = price_monthly === undefined
  const amount = isYearly ? amount_yearly : price
  if (amount === undefined)
    return html`<p class="once">You see the price before you pay${trial}</p>`
  const other =
    !isYearly && amount_yearly !== undefined && html` or ${money(amount_yearly)} per year`
  return html`<p class="price">${money(amount)}</p><p class="once">${isYearly ? 'per year' : 'per month'}${other}${trial}</p>`
}
