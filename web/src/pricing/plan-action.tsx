import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../api/problem.ts'
import type { Plan, Subscription } from '../api/types.ts'
import { isFree } from '../billing/plans.ts'
import { openCheckout, openPortal } from '../billing/processor.ts'
import { LinkButton } from '../components/links.tsx'
import { useSignedIn } from '../session/use-session.ts'
import { type Period, priceOf } from './price.ts'

type PlanActionProps = { plan: Plan; featured: boolean; period: Period; subscription: Subscription | undefined }

/**
 * What to do about a plan. Who has a running subscription changes it in the processor's portal: a second checkout would
 * charge them twice.
 */
export function PlanAction({ plan, featured, period, subscription }: PlanActionProps) {
  const signedIn = useSignedIn()
  const { priceId } = priceOf(plan, period)
  const running = subscription?.status === 'active' || subscription?.status === 'past_due'
  const leave = useMutation({
    mutationFn: () => (running || priceId === null ? openPortal() : openCheckout(priceId)),
  })

  if (isFree(plan)) {
    if (signedIn) return null
    return (
      <LinkButton to="/register" variant="default">
        Create a free account
      </LinkButton>
    )
  }
  if (!signedIn) {
    return (
      <LinkButton to="/register" search={{ redirect: '/pricing' }} variant={featured ? 'filled' : 'default'}>
        Get {plan.name}
      </LinkButton>
    )
  }
  if (priceId === null && !running) return <Text c="dimmed">Not for sale yet.</Text>
  return (
    <>
      <Button
        variant={featured && !running ? 'filled' : 'default'}
        loading={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {!running ? `Get ${plan.name}` : subscription.tier === plan.tier ? 'Manage' : `Change to ${plan.name}`}
      </Button>
      {leave.isError && (
        <Text c="var(--mantine-color-error)" size="sm" mt="xs" role="alert">
          {messageOf(leave.error)}
        </Text>
      )}
    </>
  )
}
