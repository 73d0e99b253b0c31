import { Alert, Button, Loader } from '@mantine/core'
import { IconCircleCheck, IconClockHour4 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { queries, subscriptionQuery, userQuery } from '../api/queries.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'

const WAIT_MAX_MS = 60_000

/**
 * Back from the checkout. The processor tells the service by its own way, which may be a moment slower than the browser:
 * asks until it has arrived, and after a minute says what to expect instead of turning for ever.
 */
export function PaymentConfirmation() {
  const navigate = useNavigate()
  const plans = usePlans()
  const [timedOut, setTimedOut] = useState(false)
  const subscription = useQuery({
    ...subscriptionQuery,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.status === 'active' || timedOut ? false : 1500),
  })
  const active = subscription.data?.status === 'active'

  useEffect(() => {
    const timer = setTimeout(() => setTimedOut(true), WAIT_MAX_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (active) void queries.invalidateQueries({ queryKey: userQuery.queryKey })
  }, [active])

  const dismiss = () => void navigate({ to: '/dashboard', search: {}, replace: true })

  if (active) {
    return (
      <Alert
        color="pine"
        mb="md"
        role="status"
        icon={<IconCircleCheck size={20} aria-hidden />}
        title={`Welcome to ${planName(plans, subscription.data?.tier ?? '')}`}
        withCloseButton
        closeButtonLabel="Dismiss"
        onClose={dismiss}
      >
        Your payment has arrived, and everything your plan has is open.
      </Alert>
    )
  }
  if (timedOut) {
    return (
      <Alert
        color="brass"
        mb="md"
        role="status"
        icon={<IconClockHour4 size={20} aria-hidden />}
        title="Your payment is on its way"
      >
        The processor has not confirmed it yet. It usually takes seconds; your plan opens by itself
        when it arrives.{' '}
        <Button variant="default" mt="sm" onClick={() => void subscription.refetch()}>
          Look again
        </Button>
      </Alert>
    )
  }
  return (
    <Alert
      color="pine"
      mb="md"
      role="status"
      icon={<Loader size={20} type="oval" aria-hidden />}
      title="Waiting for your payment to arrive"
    >
      This page looks for it by itself.
    </Alert>
  )
}
