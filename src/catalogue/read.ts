/**
 * Reads a catalogue's JSON; docs/catalogue.md describes its form. An error stops the start and
 * names the field. Unknown fields are errors, too: a misspelled field would otherwise silently
 * change nothing.
 */
import {
  type CataloguePlan,
  type CatalogueProduct,
  ENTITLEMENTS,
  FREE,
  INTERVALS,
  type PlanLimits,
  settingPart,
} from './catalogue.ts'
import {
  CatalogueError,
  readFields,
  readLimit,
  readList,
  readText,
  readTier,
  wrong,
} from './fields.ts'
import { requireChargeable } from './minimum-charge.ts'
import { checkList, readProduct } from './product-form.ts'

/** `prices`: null when they come from settings. */
export type FilePlan = Omit<CataloguePlan, 'prices'> & { prices: CataloguePlan['prices'] | null }

/** Omitted fields have their built-in values. */
export type CatalogueFile = { plans: readonly FilePlan[]; products: readonly CatalogueProduct[] }

const PLAN_FIELDS =
  'tier name prices grants allowance_usd trial_days trial_allowance_usd limits features'.split(' ')
/** @throws CatalogueError */
export function parseCatalogue(text: string): Partial<CatalogueFile> {
  const {
    plans,
    products,
    entitlements = [],
  } = readFields(parsed(text), '', ['plans', 'products', 'entitlements'])
  const words = [...ENTITLEMENTS, ...readList(entitlements, 'entitlements', readEntitlement)]
  return {
    ...(plans === undefined
      ? {}
      : {
          plans: unlike(
            readList(plans, 'plans', (plan, at) => readPlan(plan, at, words)),
            'plans',
          ),
        }),
    ...(products === undefined
      ? {}
      : {
          products: checkList(unlike(readList(products, 'products', readSoldProduct), 'products')),
        }),
  }
}

function readPlan(value: unknown, at: string, words: readonly string[]): FilePlan {
  const fields = readFields(value, at, PLAN_FIELDS)
  const tier = readTier(fields.tier, `${at}.tier`)
  const isPriced = fields.prices !== undefined && fields.prices !== null
  const prices = isPriced ? readPrices(fields.prices, `${at}.prices`) : null
  if (tier === FREE && prices !== null && Object.keys(prices).length > 0) {
    throw new CatalogueError(
      `${at}.prices is wrong: '${FREE}' is the plan of who has no subscription, and costs nothing`,
    )
  }
  const allowanceUsd = readAllowance(fields.allowance_usd ?? null, `${at}.allowance_usd`)
  const tenth = allowanceUsd === null ? null : allowanceUsd / TRIALS_IN_AN_ALLOWANCE
  return {
    tier,
    name: readText(fields.name, `${at}.name`),
    prices,
    grants: readList(fields.grants, `${at}.grants`, (grant, place) =>
      readGrant(grant, place, words),
    ),
    allowanceUsd,
    trialAllowanceUsd: readAllowance(
      fields.trial_allowance_usd ?? tenth,
      `${at}.trial_allowance_usd`,
    ),
    limits: readLimits(fields.limits ?? {}, `${at}.limits`),
    trialDays: readTrialDays(fields.trial_days ?? 0, tier, `${at}.trial_days`),
    features: readList(fields.features ?? [], `${at}.features`, readText),
  }
}

function readAllowance(value: unknown, at: string): number | null {
  const isAmount = typeof value === 'number' && value >= 0 && value <= ALLOWANCE_USD_MAX
  return value === null || isAmount
    ? value
    : wrong(value, at, `US dollars, from 0 to ${ALLOWANCE_USD_MAX}`)
}

function readTrialDays(value: unknown, tier: string, at: string): number {
  const isDays =
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TRIAL_DAYS_MAX
  if (!isDays) return wrong(value, at, `whole days, from 0 to ${TRIAL_DAYS_MAX}`)
  if (tier !== FREE || value === 0) return value
  throw new CatalogueError(`${at} is wrong: '${FREE}' costs nothing, so there is nothing to try`)
}

/** Without `trial_allowance_usd` a trial has a tenth of the plan's allowance. */
const TRIALS_IN_AN_ALLOWANCE = 10

/** The payment processor's limit. */
const TRIAL_DAYS_MAX = 730

/** Budgets are counted in billionths of a dollar, which stay exact up to this amount. */
const ALLOWANCE_USD_MAX = 1_000_000

const LIMIT_FIELDS: Readonly<Record<string, keyof PlanLimits>> = {
  documents_max: 'documentsMax',
  characters_max: 'charactersMax',
  chunks_max: 'chunksMax',
  file_bytes_max: 'fileBytesMax',
  output_tokens_max: 'outputTokensMax',
  choices_max: 'choicesMax',
}

function readLimits(value: unknown, at: string): PlanLimits {
  const fields = readFields(value, at, Object.keys(LIMIT_FIELDS))
  const named = Object.entries(LIMIT_FIELDS).map(([field, name]) => [
    name,
    readLimit(fields[field] ?? null, `${at}.${field}`),
  ])
  return Object.fromEntries(named) as PlanLimits
}

function readPrices(value: unknown, at: string): CataloguePlan['prices'] {
  const fields = readFields(value, at, INTERVALS)
  const named = INTERVALS.filter(
    (interval) => fields[interval] !== undefined && fields[interval] !== null,
  )
  return Object.fromEntries(
    named.map((interval) => [interval, readText(fields[interval], `${at}.${interval}`)]),
  )
}

function readGrant(value: unknown, at: string, words: readonly string[]): string {
  return words.find((word) => word === value) ?? wrong(value, at, `one of ${words.join(', ')}`)
}

function readEntitlement(value: unknown, at: string): string {
  const isWord = typeof value === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(value)
  return isWord ? value : wrong(value, at, 'small letters, digits and _')
}

function unlike<T extends { tier: string }>(items: T[], at: string): T[] {
  items.forEach(({ tier }, index) => {
    if (items.findIndex((other) => settingPart(other.tier) === settingPart(tier)) === index) return
    throw new CatalogueError(`${at}[${index}].tier is wrong: there is another '${tier}'`)
  })
  return items
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new CatalogueError(`it is not JSON: ${(error as Error).message}`)
  }
}

const readSoldProduct = (value: unknown, at: string) =>
  requireChargeable(readProduct(value, at), at)
