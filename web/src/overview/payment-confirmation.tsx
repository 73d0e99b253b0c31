import { Alert, Button, Loader } from '@mantine/core'
import { IconCircleCheck, IconClockHour4 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { queries, subscriptionQuery, userQuery } from '../api/queries.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { t } from '../language/text.ts'

const WAIT_MAX_MS = 60_000

/**
 * Waits for the processor's webhook after a checkout, which may arrive after the browser. Stops
 * polling after a minute.
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
        title={t('Welcome to {0}', planName(plans, subscription.data?.tier ?? ''))}
        withCloseButton
        closeButtonLabel={t('Dismiss')}
        onClose={dismiss}
      >
        {t('Your payment arrived and your plan is active.')}
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
        title={t('Your payment is processing')}
      >
        {t(
          'The payment processor has not confirmed it yet. Your plan starts when the payment arrives, usually within seconds.',
        )}{' '}
        <Button variant="default" mt="sm" onClick={() => void subscription.refetch()}>
          {t('Refresh')}
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
      title={t('Confirming your payment')}
    >
      {t('This page updates automatically.')}
    </Alert>
  )
}
