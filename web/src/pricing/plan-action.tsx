import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import type { Plan, Subscription } from '../api/types.ts'
import { isFree } from '../billing/plans.ts'
import { openCheckout } from '../billing/processor.ts'
import { ProblemText } from '../components/form-problem.tsx'
import { lazyPart } from '../components/lazy-part.ts'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { useHasSession } from '../session/use-session.ts'
import { computePrice, type Period } from './price.ts'

const ChangePlan = lazyPart(() => import('../billing/change-plan.tsx'), 'ChangePlan')

type PlanActionProps = {
  plan: Plan
  featured: boolean
  period: Period
  subscription: Subscription | undefined
  /** Promotion code from the address. */
  code: string | undefined
}

/**
 * Button of a plan. With an active subscription it changes the plan, because a second checkout
 * would charge twice.
 */
export function PlanAction({ plan, featured, period, subscription, code }: PlanActionProps) {
  const signedIn = useHasSession()
  const { priceId } = computePrice(plan, period)
  const running = subscription?.status === 'active' || subscription?.status === 'past_due'
  const isOwn = running && subscription.price_id === priceId && subscription.next_price_id === null
  const [changing, setChanging] = useState(false)
  const checkout = useMutation({ mutationFn: (price: string) => openCheckout(price, code) })

  if (isFree(plan)) {
    if (signedIn) return null
    return (
      <LinkButton to="/register" variant="default">
        {t('Create a free account')}
      </LinkButton>
    )
  }
  if (!signedIn) {
    return (
      <LinkButton
        to="/register"
        search={{ redirect: '/pricing' }}
        variant={featured ? 'filled' : 'default'}
      >
        {t('Get {0}', plan.name)}
      </LinkButton>
    )
  }
  if (priceId === null) return <Text c="dimmed">{t('Not available yet.')}</Text>
  if (isOwn || subscription?.status === 'past_due') {
    return (
      <LinkButton to="/billing" variant="default">
        {isOwn ? t('Manage') : t('Go to billing')}
      </LinkButton>
    )
  }
  const trialDays = subscription?.trial_available ? plan.trial_days : 0
  return (
    <>
      <Button
        variant={featured && !running ? 'filled' : 'default'}
        loading={checkout.isPending || checkout.isSuccess}
        onClick={() => (running ? setChanging(true) : checkout.mutate(priceId))}
      >
        {running
          ? t('Change to {0}', plan.name)
          : trialDays > 0
            ? t('Try {0} for {1} days', plan.name, trialDays)
            : t('Get {0}', plan.name)}
      </Button>
      {changing && (
        <Suspense>
          <ChangePlan priceId={priceId} name={plan.name} onClose={() => setChanging(false)} />
        </Suspense>
      )}
      <ProblemText problem={checkout.error} mt="xs" />
    </>
  )
}
