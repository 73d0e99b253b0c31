import { Alert, Box, Center, Container, SimpleGrid, Skeleton, Text, Title } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { plansQuery, subscriptionQuery } from '../api/queries.ts'
import type { Plan } from '../api/types.ts'
import { featuredPlan } from '../billing/plans.ts'
import { useFreeTry, useFullPlan } from '../billing/use-plans.ts'
import { Choice } from '../components/choice.tsx'
import { Loaded } from '../components/loaded.tsx'
import { useTitle } from '../components/title.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useHasSession } from '../session/use-session.ts'
import { PlanAction } from './plan-action.tsx'
import { PlanCard } from './plan-card.tsx'
import { computePrice, type Period } from './price.ts'

const route = getRouteApi('/public/pricing')

export function PricingPage() {
  useTitle(t('Pricing'))
  const { canceled, code, period = 'monthly' } = route.useSearch()
  const navigate = useNavigate()
  const signedIn = useHasSession()
  const plans = useQuery(plansQuery)
  const fullPlan = useFullPlan()
  const isFreeToTry = useFreeTry()
  const subscription = useQuery({ ...subscriptionQuery, enabled: signedIn })
  const saving = Math.max(0, ...(plans.data?.plans ?? []).map(readSaving))

  return (
    <Container size={1160} py={{ base: 'xl', sm: 64 }}>
      <Box ta="center" mb="xl">
        <Title order={1} fz="clamp(2rem, 4vw, 2.75rem)">
          {t('Plans and prices')}
        </Title>
        <Text c="dimmed" mt="sm" maw={520} mx="auto">
          {rich(
            '{0}API keys are part of {1}. Cancel anytime; you keep access until the period ends.',
            isFreeToTry && t('Chat and documents are free to try. '),
            fullPlan,
          )}
        </Text>
      </Box>
      {canceled && (
        <Alert color="brass" mb="lg" icon={<IconInfoCircle size={20} aria-hidden />} role="status">
          {t('Checkout cancelled. You were not charged.')}
        </Alert>
      )}
      <Center mb="xl">
        <Choice
          label={t('Billing period')}
          value={period}
          choices={[
            { value: 'monthly', label: t('Monthly') },
            {
              value: 'yearly',
              label: saving > 0 ? t('Yearly, save {0} %', Math.round(100 * saving)) : t('Yearly'),
            },
          ]}
          onChange={(next) =>
            void navigate({
              to: '/pricing',
              search: { code, period: next === 'yearly' ? 'yearly' : undefined },
              replace: true,
              resetScroll: false,
            })
          }
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

function readSaving(plan: Plan): number {
  return computePrice(plan, 'yearly').saving ?? 0
}
