import type { OperatorVendor, Switch } from '../api/types.ts'
import { t } from '../language/text.ts'
import { isSwitchedOff } from './switch-kinds.ts'

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: t('Not reachable'),
  timeout: t('No answer in time'),
  limited: t('Rate limit reached'),
  broken: t('Server error'),
  nonsense: t('Unusable answer'),
  unauthorized: t('API key rejected'),
  'unknown-model': t('Unknown model'),
  refused: t('Request rejected'),
  cut: t('Answer broke off'),
  failed: t('Failed'),
  cancelled: t('Cancelled|call'),
}

/** `failure` is a word of the service: `unknown-model`. */
export function describeVendorFailure(failure: string): string {
  return FAILURES[failure] ?? failure
}

export type StateBadge = { label: string; color: 'pine' | 'brass' | 'red' }

/** Returns the most urgent state first. */
export function describeVendorState(
  { name, state, endpoints, limited_models }: OperatorVendor,
  switches: readonly Switch[],
): StateBadge[] {
  if (isSwitchedOff(switches, { kind: 'vendor', subject: name }))
    return [{ label: t('Switched off'), color: 'red' }]
  const open = endpoints.filter(({ circuit }) => circuit === 'open')
  const isProbing = endpoints.some(({ circuit }) => circuit === 'half-open')
  const badges: StateBadge[] = []
  if (open.length > 0 && open.length === endpoints.length)
    badges.push({ label: t('Circuit open'), color: 'red' })
  else if (open.length > 0)
    badges.push({
      label: t('{0} of {1} circuits open', open.length, endpoints.length),
      color: 'brass',
    })
  else if (isProbing) badges.push({ label: t('Recovering'), color: 'brass' })
  if (limited_models.length > 0) badges.push({ label: t('Rate limited'), color: 'brass' })
  if (badges.length > 0) return badges
  return state === 'sandbox'
    ? [{ label: t('Sandbox'), color: 'brass' }]
    : [{ label: t('Working'), color: 'pine' }]
}
