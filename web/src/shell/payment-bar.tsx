import { Button, Group, Text } from '@mantine/core'
import { IconCreditCardOff } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { formatProblem } from '../api/problem.ts'
import { subscriptionQuery } from '../api/queries.ts'
import { openPayment } from '../billing/processor.ts'
import { readBillingState } from '../billing/state.ts'
import { LinkButton } from '../components/links.tsx'
import classes from './bar.module.css'

/** Warning above every page while a payment is due. */
export function PaymentBar() {
  const { data } = useQuery({ ...subscriptionQuery, staleTime: 60_000 })
  const pay = useMutation({ mutationFn: () => openPayment() })
  const { alert = null, actions = [] } = data ? readBillingState(data) : {}
  if (!alert?.isUrgent) return null
  return (
    <section aria-label="Payment due" className={classes.bar}>
      <IconCreditCardOff size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <Text size="sm" component="div" role="status" flex={1} miw={220}>
        {pay.isError ? formatProblem(pay.error) : `${alert.title}. ${alert.text}`}
      </Text>
      <Group gap={0}>
        <Button
          variant="subtle"
          color="red"
          loading={pay.isPending || pay.isSuccess}
          onClick={() => pay.mutate()}
        >
          {actions.includes('confirm') ? 'Confirm' : 'Pay now'}
        </Button>
        <LinkButton to="/billing" variant="subtle" color="brass">
          Billing
        </LinkButton>
      </Group>
    </section>
  )
}
