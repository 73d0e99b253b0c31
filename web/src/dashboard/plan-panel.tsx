import { Badge, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { subscriptionQuery } from '../api/queries.ts'
import { hasPaidPlan, planName } from '../billing/plans.ts'
import { readBillingState } from '../billing/state.ts'
import { usePlans } from '../billing/use-plans.ts'
import { LinkButton } from '../components/links.tsx'
import { StatusBadge, TierBadge } from '../components/plan-badge.tsx'
import { useUser } from '../session/user.ts'

export function PlanPanel() {
  const { subscription_status: status, subscription_tier: tier, entitlements } = useUser()
  const plans = usePlans()
  const subscription = useQuery(subscriptionQuery).data
  const state = subscription && readBillingState(subscription, (one) => planName(plans, one))
  const isPaid = hasPaidPlan(plans, tier, entitlements)
  const isOpen = entitlements.length > 0 ? 'Your plan is active.' : null
  const closed = 'Upgrade to use chat, documents and API keys.'
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs" mb={4}>
            <Text fw={600}>{planName(plans, tier)} plan</Text>
            {state ? (
              <Badge color={state.color}>{state.word}</Badge>
            ) : (
              <StatusBadge status={status} />
            )}
            {status === 'free' && isPaid && <TierBadge tier={tier} />}
          </Group>
          <Text c="dimmed">{state?.alert?.text ?? state?.term ?? isOpen ?? closed}</Text>
        </div>
        {isPaid || status === 'past_due' || state?.alert ? (
          <LinkButton to="/billing" variant="default">
            Billing
          </LinkButton>
        ) : (
          <LinkButton to="/pricing">See plans</LinkButton>
        )}
      </Group>
    </Paper>
  )
}
