import { Alert, Button, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/problem.ts'
import { subscriptionQuery } from '../api/queries.ts'
import type { Subscription } from '../api/types.ts'
import { dollars } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { StatusBadge } from '../components/plan-badge.tsx'
import { Stat } from '../components/stat.tsx'
import { monthForecast } from '../usage/days.ts'
import { usageQuery } from '../usage/usage-query.ts'
import { hasPaidPlan, planName } from './plans.ts'
import { openPortal } from './processor.ts'
import { termOf } from './term.ts'
import { usePlans } from './use-plans.ts'

export function BillingPage() {
  const subscription = useQuery({ ...subscriptionQuery, staleTime: 0 })
  return (
    <Page title="Billing" lead="Your plan and what this month comes to.">
      <Stack>
        <Loaded query={subscription} skeleton={<Skeleton h={180} />}>
          {(data) => <SubscriptionCard subscription={data} />}
        </Loaded>
        <ThisMonth />
      </Stack>
    </Page>
  )
}

function SubscriptionCard({ subscription }: { subscription: Subscription }) {
  const portal = useMutation({ mutationFn: openPortal })
  const plans = usePlans()
  const { status, tier, processor_customer_id: customer } = subscription
  const isOpen = hasPaidPlan(plans, tier, subscription.entitlements)
  const term = termOf(subscription)
  const isPaused = subscription.processor_status === 'paused'
  return (
    <Card component="section" aria-labelledby="plan">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs">
            <Title order={2} fz="h3" id="plan">
              {planName(plans, tier)} plan
            </Title>
            <StatusBadge status={status} />
          </Group>
          {term && <Text mt={4}>{term}</Text>}
          <Text c="dimmed" mt={4}>
            {customer
              ? 'Invoices, your card, and changing or ending the plan are in the portal of our payment processor.'
              : 'There is no billing account yet: one is made with your first payment.'}
          </Text>
        </div>
        <Group gap="xs">
          {!isOpen && <LinkButton to="/pricing">See the plans</LinkButton>}
          {customer && (
            <Button
              variant={status === 'past_due' ? 'filled' : 'default'}
              rightSection={<IconExternalLink size={18} aria-hidden />}
              loading={portal.isPending || portal.isSuccess}
              onClick={() => portal.mutate()}
            >
              {isPaused ? 'Resume in the portal' : status === 'past_due' ? 'Update your card' : 'Open the portal'}
            </Button>
          )}
        </Group>
      </Group>
      {status === 'past_due' && (
        <Alert
          color="red"
          mt="md"
          title={isPaused ? 'Your subscription is paused' : 'The last payment did not go through'}
        >
          {isPaused
            ? 'Nothing is billed, and your plan is closed until you resume it. What you have stored is kept.'
            : isOpen
              ? 'Your plan stays open for now. Update your card so that it stays so.'
              : 'Your plan is closed until the payment goes through. What you have stored is kept.'}
        </Alert>
      )}
      {portal.isError && (
        <Alert color="red" mt="md" role="alert">
          {messageOf(portal.error)}
        </Alert>
      )}
    </Card>
  )
}

/** Model cost is what the vendors charge for this user's calls; the plan's price is in the portal's invoices. */
function ThisMonth() {
  const now = new Date()
  const usage = useQuery(usageQuery(now.getUTCDate(), 'day'))
  return (
    <Loaded query={usage} skeleton={<Skeleton h={104} />}>
      {({ totals }) => (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Stat label="Model cost this month" note="What your calls cost at the model vendors so far">
            {dollars(totals.cost_usd)}
          </Stat>
          <Stat label="At this pace, the whole month" note="From the days so far, in UTC">
            {dollars(monthForecast(totals.cost_usd, now))}
          </Stat>
        </SimpleGrid>
      )}
    </Loaded>
  )
}
