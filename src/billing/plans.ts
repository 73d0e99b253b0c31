/**
 * What is on offer. Names and features are ours, and promise nothing that this service does not do; what it costs is asked of the
 * processor, the only place where that is set.
 */
import { type Static, Type } from 'typebox'
import { HOUR_MS } from '#platform/clock.ts'
import { OneOf } from '#platform/http/schema.ts'
import type { Config, PaidTier } from '../config.ts'
import type { BillingDeps } from './deps.ts'

export const Plan = Type.Object({
  name: Type.String(),
  tier: OneOf('free', 'pro', 'enterprise'),
  price: Type.Optional(
    Type.Number({ description: 'A month, in units of the currency; left out when the processor cannot be asked' }),
  ),
  price_monthly: Type.Optional(Type.String({ description: 'The processor’s price id, for create-checkout-session' })),
  price_yearly: Type.Optional(Type.String({ description: 'The processor’s price id, for create-checkout-session' })),
  amount_yearly: Type.Optional(Type.Number({ description: 'A year, in units of the currency' })),
  currency: Type.Optional(Type.String()),
  features: Type.Array(Type.String()),
})
export type Plan = Static<typeof Plan>

const FREE: Plan = {
  name: 'Free',
  tier: 'free',
  price: 0,
  features: [
    'An account with two-factor sign-in and passkeys',
    'Export and deletion of your data at any time',
    'Keys and downloads of what you buy in the storefront',
  ],
}

const PAID: readonly { name: string; tier: PaidTier; features: string[] }[] = [
  {
    name: 'Pro',
    tier: 'pro',
    features: [
      'Streaming answers',
      'Your own documents: search and grounded answers',
      'An OpenAI-compatible endpoint',
      'API keys with scopes, limits and an expiry of their own',
      'Usage by day, model and key',
    ],
  },
  {
    name: 'Enterprise',
    tier: 'enterprise',
    features: ['Everything in Pro', 'Priority support'],
  },
]

/** As many vendors as have a key. */
function modelsOf({ ai }: Config): string {
  const vendors = Object.values(ai.vendors).filter(({ apiKey }) => apiKey !== null).length
  return vendors > 1 ? `Chat and completions with ${vendors} model vendors` : 'Chat and completions'
}

/** There is no budget unless one is set. */
function budgetOf({ budgets }: Config, tier: PaidTier): string[] {
  const tokens = budgets[tier]
  return tokens === null ? [] : [`${tokens.toLocaleString('en')} tokens a month`]
}

type Amount = { value: number; currency: string }

const FRESH_MS = HOUR_MS
const RETRY_MS = 10_000
const PATIENCE_MS = 2_000

export function createPlans(deps: BillingDeps) {
  let amounts = new Map<string, Amount>()
  let askAgainAt = 0
  let asking: Promise<void> | null = null

  return {
    async list(): Promise<Plan[]> {
      await refresh()
      return [FREE, ...PAID.map(planOf)]
    },
  }

  function planOf({ name, tier, features }: (typeof PAID)[number]): Plan {
    const monthly = priceId(tier, 'month')
    const yearly = priceId(tier, 'year')
    const amount = amounts.get(monthly ?? '')
    const yearlyAmount = amounts.get(yearly ?? '')
    return {
      name,
      tier,
      ...(amount ? { price: amount.value, currency: amount.currency } : {}),
      ...(monthly ? { price_monthly: monthly } : {}),
      ...(yearly ? { price_yearly: yearly } : {}),
      ...(yearlyAmount ? { amount_yearly: yearlyAmount.value } : {}),
      features: [...(tier === 'pro' ? [modelsOf(deps.config)] : []), ...features, ...budgetOf(deps.config, tier)],
    }
  }

  function priceId(tier: PaidTier, interval: 'month' | 'year'): string | undefined {
    for (const [id, price] of deps.config.processor.prices)
      if (price.tier === tier && price.interval === interval) return id
    return undefined
  }

  /** Old amounts are better than a pricing page that hangs: a slow processor is waited for 2 s, and only once at a time. */
  async function refresh(): Promise<void> {
    if (!deps.processor || deps.clock.ms() < askAgainAt) return
    asking ??= ask().finally(() => {
      asking = null
    })
    await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())])
  }

  async function ask(): Promise<void> {
    const ids = [...deps.config.processor.prices.keys()]
    const answers = await Promise.allSettled(ids.map(async (id) => deps.processor?.prices.retrieve(id)))
    const found = new Map(amounts)
    for (const [index, answer] of answers.entries()) {
      const id = ids[index] ?? ''
      if (answer.status === 'fulfilled' && answer.value?.unit_amount != null) {
        const { unit_amount: minor, currency } = answer.value
        found.set(id, { value: minor / 10 ** minorDigits(currency), currency })
      } else if (answer.status === 'rejected') {
        deps.log.warn({ err: answer.reason, price: id }, 'a price could not be read from the processor')
      }
    }
    amounts = found
    const whole = answers.every(({ status }) => status === 'fulfilled')
    askAgainAt = deps.clock.ms() + (whole ? FRESH_MS : RETRY_MS)
  }
}

/** 2 for dollars, 0 for yen. */
function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
}
