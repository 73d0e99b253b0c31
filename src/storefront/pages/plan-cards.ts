/** The subscription plans on the pricing page. Their buttons lead into the app, which sells them. */
import type { PlanView } from '#billing/plans.ts'
import { type Html, html } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'
import { withCode } from './offers.ts'

export type PlanDeps = { listPlans: () => Promise<PlanView[]> }

export type PlanCardParts = {
  plans: readonly PlanView[]
  frontend: string
  code: string | null
  messages: PageMessages
}

/** Returns the plans if at least one of them is sold, and none otherwise. */
export async function listSoldPlans({ listPlans }: PlanDeps): Promise<PlanView[]> {
  const plans = await listPlans()
  return plans.some(isSold) ? plans.filter((plan) => isSold(plan) || plan.price === 0) : []
}

const isSold = (plan: PlanView) => Boolean(plan.price_monthly ?? plan.price_yearly)

export function planSection(parts: PlanCardParts): Html {
  return html`<section class="part" aria-labelledby="plans"><h2 id="plans">${parts.messages.pricing.plans}</h2>${planCards(parts)}</section>`
}

function planCards({ plans, frontend, code, messages }: PlanCardParts): Html {
  const picked = plans.find(isSold)
  const target = `/register?redirect=${encodeURIComponent(withCode('/pricing', code))}`
  return html`<div class="tiers">${plans.map(
    (
      plan,
    ) => html`<article class="card tier${plan === picked ? ' picked' : ''}" aria-labelledby="plan-${plan.tier}">
<h3 id="plan-${plan.tier}">${plan.name}</h3>
${priceLines(plan, messages)}
<ul class="ticks">${plan.features.map((feature) => html`<li>${feature}</li>`)}</ul>
<a class="button${plan === picked ? '' : ' quiet'}" href="${frontend}${isSold(plan) ? target : '/register'}">${isSold(plan) ? messages.plans.get(plan.name) : messages.plans.createAccount}</a>
</article>`,
  )}</div>`
}

/** A plan without a monthly price has its yearly price in front. */
function priceLines(plan: PlanView, { plans: text, locale }: PageMessages): Html {
  const { price, price_monthly, amount_yearly, currency = 'usd', trial_days: days } = plan
  const money = (amount: number) => formatMoney(amount, currency, { short: true, locale })
  const trial = days > 0 && text.trial(days)
  if (!isSold(plan))
    return html`<p class="price">${money(0)}</p><p class="once">${text.forever}</p>`
  const isYearly = price_monthly === undefined
  const amount = isYearly ? amount_yearly : price
  if (amount === undefined) return html`<p class="once">${text.priceLater}${trial}</p>`
  const other = !isYearly && amount_yearly !== undefined && text.orPerYear(money(amount_yearly))
  return html`<p class="price">${money(amount)}</p><p class="once">${isYearly ? text.perYear : text.perMonth}${other}${trial}</p>`
}
