import type { OperatorVendor, Switch } from '../api/types.ts'

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: 'Not reachable',
  timeout: 'No answer in time',
  limited: 'Rate limit reached',
  broken: 'Server error',
  nonsense: 'Unusable answer',
  unauthorized: 'API key rejected',
  'unknown-model': 'Unknown model',
  refused: 'Request rejected',
  cut: 'Answer broke off',
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
  const isOff = switches.some(({ kind, subject }) => kind === 'vendor' && subject === name)
  if (isOff) return [{ label: 'Switched off', color: 'red' }]
  const open = endpoints.filter(({ circuit }) => circuit === 'open')
  const isProbing = endpoints.some(({ circuit }) => circuit === 'half-open')
  const badges: StateBadge[] = []
  if (open.length > 0 && open.length === endpoints.length)
    badges.push({ label: 'Circuit open', color: 'red' })
  else if (open.length > 0)
    badges.push({ label: `${open.length} of ${endpoints.length} circuits open`, color: 'brass' })
  else if (isProbing) badges.push({ label: 'Recovering', color: 'brass' })
  if (limited_models.length > 0) badges.push({ label: 'Rate limited', color: 'brass' })
  if (badges.length > 0) return badges
  return state === 'sandbox'
    ? [{ label: 'Sandbox', color: 'brass' }]
    : [{ label: 'Working', color: 'pine' }]
}
