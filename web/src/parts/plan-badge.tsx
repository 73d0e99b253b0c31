import { Badge } from '@mantine/core'
import type { SubscriptionStatus, Tier } from '../api/types.ts'

const NAMES: Record<Tier, string> = { free: 'Free', pro: 'Pro', enterprise: 'Enterprise' }
const STATES: Record<SubscriptionStatus, { word: string; color: string }> = {
  free: { word: 'No subscription', color: 'gray' },
  active: { word: 'Active', color: 'pine' },
  cancelled: { word: 'Cancelled', color: 'gray' },
  past_due: { word: 'Payment due', color: 'red' },
}

export function tierName(tier: Tier): string {
  return NAMES[tier] ?? tier
}

export function TierBadge({ tier }: { tier: Tier }) {
  return <Badge color={tier === 'free' ? 'gray' : 'brass'}>{tierName(tier)}</Badge>
}

export function StatusBadge({ status }: { status: SubscriptionStatus }) {
  const { word, color } = STATES[status] ?? { word: status, color: 'gray' }
  return <Badge color={color}>{word}</Badge>
}
