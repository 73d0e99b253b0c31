import { Badge } from '@mantine/core'
import type { SubscriptionStatus } from '../api/types.ts'
import { isFree, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { t } from '../language/text.ts'

const STATES: Record<SubscriptionStatus, { word: string; color: string }> = {
  free: { word: t('No subscription'), color: 'gray' },
  active: { word: t('Active'), color: 'pine' },
  cancelled: { word: t('Cancelled'), color: 'gray' },
  past_due: { word: t('Payment due'), color: 'red' },
}

export function TierBadge({ tier }: { tier: string }) {
  const plans = usePlans()
  const isPaid = plans.some((plan) => plan.tier === tier && !isFree(plan))
  return <Badge color={isPaid ? 'brass' : 'gray'}>{planName(plans, tier)}</Badge>
}

export function StatusBadge({ status }: { status: SubscriptionStatus }) {
  const { word, color } = STATES[status] ?? { word: status, color: 'gray' }
  return <Badge color={color}>{word}</Badge>
}
