import {
  Alert,
  Box,
  Center,
  Container,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Text,
  Title,
} from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { plansQuery, subscriptionQuery } from '../api/queries.ts'
import { featuredPlan } from '../billing/plans.ts'
import { useFullPlan } from '../billing/use-plans.ts'
import { Loaded } from '../components/loaded.tsx'
import { useTitle } from '../components/title.ts'
import { useHasSession } from '../session/use-session.ts'
import { PlanAction } from './plan-action.tsx'
import { PlanCard } from './plan-card.tsx'
import type { Period } from './price.ts'

const route = getRouteApi('/public/pricing')

export function PricingPage() {
  useTitle('Pricing')
  const { canceled, code, period = 'monthly' } = route.useSearch()
  const navigate = useNavigate()
  const signedIn = useHasSession()
  const plans = useQuery(plansQuery)
  const fullPlan = useFullPlan()
  const subscription = useQuery({ ...subscriptionQuery, enabled: signedIn })

  return (
    <Container size={1160} py={{ base: 'xl', sm: 64 }}>
      <Box ta="center" mb="xl">
        <Title order={1} fz="clamp(2rem, 4vw, 2.75rem)">
          Plans and prices
        </Title>
        <Text c="dimmed" mt="sm" maw={520} mx="auto">
          Chat, documents and API keys are part of {fullPlan}. Cancel anytime; you keep access until
          the period ends. Shop purchases need no plan.
        </Text>
      </Box>
      {canceled && (
        <Alert color="brass" mb="lg" icon={<IconInfoCircle size={20} aria-hidden />} role="status">
          Checkout cancelled. You were not charged.
        </Alert>
      )}
      <Center mb="xl">
        <SegmentedControl
          aria-label="Billing period"
          value={period}
          onChange={(value) =>
            void navigate({
              to: '/pricing',
              search: { code, period: value === 'yearly' ? 'yearly' : undefined },
              replace: true,
              resetScroll: false,
            })
          }
          data={[
            { value: 'monthly', label: 'Monthly' },
            { value: 'yearly', label: 'Yearly' },
          ]}
        />
      </Center>
      <Loaded query={plans} skeleton={<Skeleton h={420} radius="lg" />}>
        {({ plans }) => (
          <SimpleGrid cols={{ base: 1, sm: Math.min(3, plans.length) }}>
            {plans.map((plan) => (
              <PlanCard
                key={plan.tier}
                plan={plan}
                period={period satisfies Period}
                featured={plan === featuredPlan(plans)}
                current={subscription.data?.tier === plan.tier}
                action={
                  <PlanAction
                    plan={plan}
                    featured={plan === featuredPlan(plans)}
                    period={period}
                    subscription={signedIn ? subscription.data : undefined}
                    code={code}
                  />
                }
              />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Container>
  )
}
