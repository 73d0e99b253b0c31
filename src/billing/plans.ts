/**
 * The plans on offer, from the catalogue. Their amounts come from the processor, the only place
 * that sets them.
 */
import { type Static, Type } from 'typebox'
import { type CataloguePlan, FREE, type Tier } from '#catalogue/catalogue.ts'
import { HOUR_MS } from '#platform/clock.ts'
import { Nullable } from '#platform/http/schema.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { BillingDeps } from './deps.ts'

const Count = Nullable(Type.Integer())

export const PlanView = Type.Object(
  {
    name: Type.String(),
    tier: Type.String(),
    price: Type.Optional(
      Type.Number({
        description:
          'Per month, in units of the currency; absent when the processor cannot be reached',
      }),
    ),
    price_monthly: Type.Optional(
      Type.String({ description: 'The processor’s price id, for create-checkout-session' }),
    ),
    price_yearly: Type.Optional(
      Type.String({ description: 'The processor’s price id, for create-checkout-session' }),
    ),
    amount_yearly: Type.Optional(
      Type.Number({ description: 'Per year, in units of the currency' }),
    ),
    currency: Type.Optional(Type.String()),
    features: Type.Array(Type.String()),
    grants: Type.Array(Type.String()),
    limits: Type.Object(
      {
        documents_max: Count,
        characters_max: Count,
        chunks_max: Count,
        file_bytes_max: Count,
        output_tokens_max: Count,
        choices_max: Count,
      },
      {
        title: 'PlanLimits',
        description: 'Limits of stored data and of each call; null: no limit.',
      },
    ),
    trial_days: Type.Integer({
      description: 'Trial before the first payment, for users who have never subscribed',
    }),
  },
  { title: 'Plan' },
)
export type PlanView = Static<typeof PlanView>

type Amount = { value: number; currency: string }

const FRESH_MS = HOUR_MS
const RETRY_MS = 10_000
const PATIENCE_MS = 2_000

export type Plans = ReturnType<typeof createPlans>

export function createPlans(deps: BillingDeps) {
  let amounts = new Map<string, Amount>()
  let nextReadAt = 0
  let pendingRead: Promise<void> | null = null

  return {
    async list(): Promise<PlanView[]> {
      await refresh()
      return deps.config.catalogue.plans.map(viewPlan)
    },
  }

  function viewPlan({
    name,
    tier,
    prices,
    features,
    grants,
    allowanceUsd,
    trialDays,
    limits,
  }: CataloguePlan): PlanView {
    const amount = amounts.get(prices.month ?? '')
    const yearly = amounts.get(prices.year ?? '')
    const currency = (amount ?? yearly)?.currency
    const tokens = deps.config.budgets.get(tier)
    return {
      name,
      tier,
      ...(tier === FREE ? { price: 0 } : amount ? { price: amount.value } : {}),
      ...(currency ? { currency } : {}),
      ...(prices.month ? { price_monthly: prices.month } : {}),
      ...(prices.year ? { price_yearly: prices.year } : {}),
      ...(yearly ? { amount_yearly: yearly.value } : {}),
      features: [
        ...describeModels(tier),
        ...features,
        ...(allowanceUsd === null
          ? []
          : [`${formatMoney(allowanceUsd, 'usd', { short: true })} of usage included each month`]),
        ...(tokens === undefined ? [] : [`${tokens.toLocaleString('en')} tokens a month`]),
      ],
      grants: [...grants],
      limits: {
        documents_max: limits.documentsMax,
        characters_max: limits.charactersMax,
        chunks_max: limits.chunksMax,
        file_bytes_max: limits.fileBytesMax,
        output_tokens_max: limits.outputTokensMax,
        choices_max: limits.choicesMax,
      },
      trial_days: trialDays,
    }
  }

  /**
   * Built-in plans mention the number of vendors with a key, on the first plan that includes
   * models; a catalogue file describes its own plans.
   */
  function describeModels(tier: Tier): string[] {
    const { ai, catalogue } = deps.config
    const first = catalogue.plans.find(({ grants }) => grants.includes('ai'))
    if (catalogue.plansPath !== null || tier !== first?.tier) return []
    const vendors = Object.values(ai.vendors).filter(({ apiKey }) => apiKey !== null).length
    return [
      vendors > 1 ? `Chat and completions with ${vendors} model vendors` : 'Chat and completions',
    ]
  }

  /**
   * Shows old amounts rather than a slow pricing page: waits at most 2 s for the processor, with
   * one read at a time.
   */
  async function refresh(): Promise<void> {
    if (!deps.processor || deps.clock.ms() < nextReadAt) return
    pendingRead ??= readAmounts().finally(() => {
      pendingRead = null
    })
    await Promise.race([
      pendingRead,
      new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref()),
    ])
  }

  async function readAmounts(): Promise<void> {
    const ids = [...deps.config.processor.prices.keys()]
    const answers = await Promise.allSettled(
      ids.map(async (id) => deps.processor?.prices.retrieve(id)),
    )
    const found = new Map(amounts)
    for (const [index, answer] of answers.entries()) {
      const id = ids[index] ?? ''
      if (answer.status === 'fulfilled' && answer.value?.unit_amount != null) {
        const { unit_amount: minor, currency } = answer.value
        found.set(id, { value: inUnits(minor, currency), currency })
      } else if (answer.status === 'rejected') {
        deps.log.warn(
          { err: answer.reason, price: id },
          'a price could not be read from the processor',
        )
      }
    }
    amounts = found
    const whole = answers.every(({ status }) => status === 'fulfilled')
    nextReadAt = deps.clock.ms() + (whole ? FRESH_MS : RETRY_MS)
  }
}
