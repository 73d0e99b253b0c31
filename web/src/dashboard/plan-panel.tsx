import { Group, Paper, Text } from '@mantine/core'
import { StatusBadge, TierBadge, tierName } from '../parts/plan-badge.tsx'
import { ToButton } from '../parts/to.tsx'
import { useUser } from '../session/user.ts'

const WORDS = {
  free: 'You can look around. Chat, documents, questions and API keys open with a paid plan.',
  active: 'Everything your plan has is open.',
  past_due: 'The last payment did not go through. Update your card to keep your plan.',
  cancelled: 'Your subscription has ended. You can take it up again at any time.',
} as const

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
          <Text c="dimmed">{WORDS[status === 'free' && tier !== 'free' ? 'active' : status]}</Text>
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
