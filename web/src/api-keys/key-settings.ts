// Converts a key's settings between the form, the API and the list.

import type { ApiKey, ApiKeyChange, KeyScope } from '../api/types.ts'
import { formatCompact, formatCount, formatDollars } from '../components/format.ts'
import { t } from '../language/text.ts'

/** Empty: no limit of this kind. */
export type KeyForm = {
  name: string
  /** Days from now; `0` for never, `''` for the current expiry. */
  days: string
  scopes: KeyScope[]
  models: string[]
  addresses: string[]
  limitUsd: number | ''
  period: 'day' | 'week' | 'month'
  monthlyTokens: number | ''
  requests: number | ''
  seconds: string
}

export const SCOPES: { value: KeyScope; label: string }[] = [
  { value: 'ai', label: t('Models') },
  { value: 'rag', label: t('Documents') },
  { value: 'rag:read', label: t('Documents (read only)') },
  { value: 'usage', label: t('Usage') },
]
export const PERIODS = [
  { value: 'day', label: t('per day') },
  { value: 'week', label: t('per week') },
  { value: 'month', label: t('per month') },
]
export const WINDOWS = [
  { value: '1', label: t('per second') },
  { value: '60', label: t('per minute') },
  { value: '3600', label: t('per hour') },
  { value: '86400', label: t('per day') },
]

export const NEW_KEY: KeyForm = {
  name: '',
  // Forgotten keys expire.
  days: '365',
  scopes: [],
  models: [],
  addresses: [],
  limitUsd: '',
  period: 'month',
  monthlyTokens: '',
  requests: '',
  seconds: '60',
}

export function readKeyForm(key: ApiKey): KeyForm {
  return {
    name: key.name,
    days: key.expires_at === null ? '0' : '',
    scopes: key.scopes ?? [],
    models: key.models ?? [],
    addresses: key.addresses ?? [],
    limitUsd: key.budget?.limit_usd ?? '',
    period: key.budget?.period ?? 'month',
    monthlyTokens: key.monthly_token_limit ?? '',
    requests: key.rate_limit?.requests ?? '',
    seconds: `${key.rate_limit?.seconds ?? 60}`,
  }
}

const DAY_MS = 86_400_000

/** Builds the request with every setting, so that emptied fields remove their limits. */
export function buildKeySettings(form: KeyForm, now: number) {
  return {
    name: form.name.trim(),
    scopes: orNull(form.scopes),
    models: orNull(form.models),
    addresses: orNull(form.addresses),
    budget: form.limitUsd === '' ? null : { limit_usd: form.limitUsd, period: form.period },
    monthly_token_limit: form.monthlyTokens === '' ? null : form.monthlyTokens,
    rate_limit:
      form.requests === '' ? null : { requests: form.requests, seconds: Number(form.seconds) },
    ...(form.days === ''
      ? {}
      : {
          expires_at:
            form.days === '0' ? null : new Date(now + Number(form.days) * DAY_MS).toISOString(),
        }),
  } satisfies ApiKeyChange
}

/**
 * Returns only the settings that the form changed, so that concurrent changes to others survive.
 */
export function diffKeySettings(key: ApiKey, form: KeyForm, now: number): ApiKeyChange {
  const before: Record<string, unknown> = buildKeySettings(readKeyForm(key), now)
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[name])
  return Object.fromEntries(Object.entries(buildKeySettings(form, now)).filter(isChanged))
}

function orNull<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list
}

/** Returns short labels: `$5 per week`, `gpt-*`, `2 networks`. */
export function describeLimits(key: ApiKey): string[] {
  const { scopes, models, addresses, budget, monthly_token_limit: tokens, rate_limit: rate } = key
  const formatScope = (scope: KeyScope) =>
    SCOPES.find(({ value }) => value === scope)?.label ?? scope
  const findLabel = (list: { value: string; label: string }[], value: string) =>
    list.find((one) => one.value === value)?.label
  return [
    ...(budget ? [`${formatDollars(budget.limit_usd)} ${findLabel(PERIODS, budget.period)}`] : []),
    ...(tokens === undefined ? [] : [t('{0} tokens per month', formatCompact(tokens))]),
    ...(rate
      ? [
          t(
            '{0} calls {1}',
            formatCount(rate.requests),
            findLabel(WINDOWS, `${rate.seconds}`) ?? t('in {0} s', rate.seconds),
          ),
        ]
      : []),
    ...(scopes ? [scopes.map(formatScope).join(' and ')] : []),
    ...(models ? [models.length > 2 ? t('{0} models', models.length) : models.join(', ')] : []),
    ...(addresses
      ? [addresses.length > 1 ? t('{0} networks', addresses.length) : t('from {0}', addresses[0])]
      : []),
  ]
}
