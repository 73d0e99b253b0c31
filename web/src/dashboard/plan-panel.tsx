import { Group, Paper, Text } from '@mantine/core'
import type { SubscriptionStatus, Tier } from '../api/types.ts'
import { StatusBadge, TierBadge, tierName } from '../parts/plan-badge.tsx'
import { ToButton } from '../parts/to.tsx'
import { useUser } from '../session/user.ts'

const WORDS = {
  free: 'You can look around. Chat, documents, questions and API keys open with a paid plan.',
  active: 'Everything your plan has is open.',
  past_due: 'The last payment did not go through. Update your card to keep your plan.',
  closed: 'Your plan is closed until its payment goes through, or you resume it.',
  cancelled: 'Your subscription has ended. You can take it up again at any time.',
} as const

function wordFor(status: SubscriptionStatus, tier: Tier): keyof typeof WORDS {
  if (status === 'free' && tier !== 'free') return 'active'
  return status === 'past_due' && tier === 'free' ? 'closed' : status
}

export function PlanPanel() {
  const { subscription_status: status, subscription_tier: tier } = useUser()
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs" mb={4}>
            <Text fw={600}>{tierName(tier)} plan</Text>
            <StatusBadge status={status} />
            {status === 'free' && tier !== 'free' && <TierBadge tier={tier} />}
          </Group>
          <Text c="dimmed">{WORDS[wordFor(status, tier)]}</Text>
        </div>
        {tier === 'free' ? (
          <ToButton to="/pricing">See the plans</ToButton>
        ) : (
          <ToButton to="/billing" variant="default">
            Billing
          </ToButton>
        )}
      </Group>
    </Paper>
  )
}
