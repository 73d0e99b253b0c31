import { Group, Paper, Text } from '@mantine/core'
import type { SubscriptionStatus } from '../api/types.ts'
import { hasPaidPlan, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { LinkButton } from '../components/links.tsx'
import { StatusBadge, TierBadge } from '../components/plan-badge.tsx'
import { useUser } from '../session/user.ts'

const MESSAGES = {
  free: 'You can look around. Chat, documents, questions and API keys open with a paid plan.',
  active: 'Everything your plan has is open.',
  past_due: 'The last payment did not go through. Update your card to keep your plan.',
  closed: 'Your plan is closed until its payment goes through, or you resume it.',
  cancelled: 'Your subscription has ended. You can take it up again at any time.',
} as const

function messageKeyOf(status: SubscriptionStatus, isPaid: boolean, isOpen: boolean): keyof typeof MESSAGES {
  if (status === 'free' && isOpen) return 'active'
  return status === 'past_due' && !isPaid ? 'closed' : status
}

export function PlanPanel() {
  const { subscription_status: status, subscription_tier: tier, entitlements } = useUser()
  const plans = usePlans()
  const isPaid = hasPaidPlan(plans, tier, entitlements)
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs" mb={4}>
            <Text fw={600}>{planName(plans, tier)} plan</Text>
            <StatusBadge status={status} />
            {status === 'free' && isPaid && <TierBadge tier={tier} />}
          </Group>
          <Text c="dimmed">{MESSAGES[messageKeyOf(status, isPaid, entitlements.length > 0)]}</Text>
        </div>
        {isPaid ? (
          <LinkButton to="/billing" variant="default">
            Billing
          </LinkButton>
        ) : (
          <LinkButton to="/pricing">See the plans</LinkButton>
        )}
      </Group>
    </Paper>
  )
}
