import {
  Alert,
  Badge,
  Box,
  Button,
  Card,
  Group,
  Skeleton,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { subscriptionQuery } from '../api/queries.ts'
import type { Subscription } from '../api/types.ts'
import { FormProblem, ProblemText } from '../components/form-problem.tsx'
import { formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t, translate } from '../language/text.ts'
import { AllowanceCard } from '../usage/allowance-card.tsx'
import { ChangePlan } from './change-plan.tsx'
import { Invoices } from './invoices.tsx'
import { PlanActions, ProcessorButton, storeSubscription } from './plan-actions.tsx'
import { planName } from './plans.ts'
import { openCheckout, openPayment } from './processor.ts'
import { describeAccount, describePendingCheckout, readBillingState, readPlan } from './state.ts'
import { usePlans } from './use-plans.ts'

export function BillingPage() {
  const subscription = useQuery({ ...subscriptionQuery, staleTime: 0 })
  return (
    <Page title={t('Plan and billing')} lead={t('Your plan, allowance and invoices.')}>
      <Stack>
        <Loaded query={subscription} skeleton={<Skeleton h={180} />}>
          {(data) => <SubscriptionCard subscription={data} />}
        </Loaded>
        <AllowanceCard />
        {subscription.data && hasPaid(subscription.data) && <Invoices />}
        {subscription.data && <Offers subscription={subscription.data} />}
      </Stack>
    </Page>
  )
}

/** Invoices stay even when the customer is gone at the processor. */
const hasPaid = ({ status, processor_customer_id: customer }: Subscription) =>
  customer !== null || status !== 'free'

function SubscriptionCard({ subscription }: { subscription: Subscription }) {
  const plans = usePlans()
  const { deal } = subscription
  const { word, color, term, alert, actions } = readBillingState(subscription, (one) =>
    planName(plans, one),
  )
  return (
    <Card component="section" aria-labelledby="plan">
      <Group justify="space-between" gap="md">
        <div>
          <Group gap="xs">
            <Title order={2} fz="h3" id="plan">
              {t('{0} plan', planName(plans, readPlan(subscription)))}
            </Title>
            <Badge color={color}>{word}</Badge>
          </Group>
          {term && <Text mt={4}>{term}</Text>}
          <Text c="dimmed" mt={4}>
            {describeAccount(subscription)}
          </Text>
        </div>
      </Group>
      {alert && (
        <Alert color={alert.isUrgent ? 'red' : 'brass'} mt="md" title={alert.title}>
          {alert.text}
        </Alert>
      )}
      <PendingCheckout subscription={subscription} />
      {deal && (
        <DealOffer
          deal={deal}
          name={planName(plans, deal.tier)}
          running={actions.includes('change')}
        />
      )}
      <Box mt="md">
        <PlanActions actions={actions} />
      </Box>
    </Card>
  )
}

function PendingCheckout({ subscription }: { subscription: Subscription }) {
  const plans = usePlans()
  const pending = describePendingCheckout(subscription, (one) => planName(plans, one))
  if (pending === null) return null
  return (
    <Alert color="brass" mt="md" title={pending.title}>
      {pending.text}
      {pending.isToConfirm && (
        <Box mt="sm">
          <ProcessorButton variant="default" open={() => openPayment('checkout')}>
            {t('Confirm payment')}
          </ProcessorButton>
        </Box>
      )}
    </Alert>
  )
}

type DealOfferProps = { deal: NonNullable<Subscription['deal']>; name: string; running: boolean }

/** A price for this customer alone, taken by a checkout or by a plan change. */
function DealOffer({ deal, name, running }: DealOfferProps) {
  const [opened, { open, close }] = useDisclosure()
  const checkout = useMutation({ mutationFn: () => openCheckout(deal.price_id) })
  return (
    <Alert
      color="pine"
      mt="md"
      title={t(
        '{0} for {1} per {2}',
        name,
        formatMoney(deal.amount, deal.currency),
        translate(deal.interval),
      )}
    >
      {t('This price is for you only.')}
      <Box mt="sm">
        <Button
          loading={checkout.isPending || checkout.isSuccess}
          onClick={() => (running ? open() : checkout.mutate())}
        >
          {t('Accept offer')}
        </Button>
      </Box>
      {checkout.isError && <FormProblem problem={checkout.error} />}
      {opened && <ChangePlan priceId={deal.price_id} name={name} onClose={close} />}
    </Alert>
  )
}

/** Opt-in for marketing emails. Emails about the plan and payments are always sent. */
function Offers({ subscription }: { subscription: Subscription }) {
  const save = useMutation({
    mutationFn: (byMail: boolean) => api.patch('/api/billing/offers', { by_mail: byMail }),
    onSuccess: storeSubscription,
  })
  return (
    <Card component="section" aria-label={t('Email offers')}>
      <Switch
        label={t('Email offers')}
        description={t(
          'Occasional offers, for example when a plan ends. We’ll always email you about your plan and payments.',
        )}
        checked={save.isPending ? save.variables : subscription.offers_by_mail}
        onChange={(event) => save.mutate(event.currentTarget.checked)}
      />
      <ProblemText problem={save.error} mt="xs" />
    </Card>
  )
}
