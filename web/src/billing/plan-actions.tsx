import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconExternalLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { queries, subscriptionQuery, userQuery } from '../api/queries.ts'
import type { Subscription } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { LinkButton } from '../components/links.tsx'
import { openPayment, openPortal } from './processor.ts'
import type { BillingAction } from './state.ts'

/** What can be done about the plan, as buttons; the first one is the one to press. */
export function PlanActions({ actions }: { actions: readonly BillingAction[] }) {
  return (
    <Group gap="xs">
      {actions.map((action, index) => (
        <PlanAction key={action} action={action} isFirst={index === 0} />
      ))}
    </Group>
  )
}

function PlanAction({ action, isFirst }: { action: BillingAction; isFirst: boolean }) {
  const variant = isFirst ? 'filled' : 'default'
  switch (action) {
    case 'subscribe':
      return (
        <LinkButton to="/pricing" variant={variant}>
          See the plans
        </LinkButton>
      )
    case 'change':
      return (
        <LinkButton to="/pricing" variant="default">
          Change the plan
        </LinkButton>
      )
    case 'pay':
      return (
        <ProcessorButton variant={variant} open={() => openPayment()}>
          Pay now
        </ProcessorButton>
      )
    case 'confirm':
      return (
        <ProcessorButton variant={variant} open={() => openPayment()}>
          Confirm the payment
        </ProcessorButton>
      )
    case 'card':
      return (
        <ProcessorButton variant={variant} open={() => openPortal('card')}>
          Change the card
        </ProcessorButton>
      )
    case 'cancel':
      return (
        <ProcessorButton variant={variant} open={() => openPortal('cancel')}>
          Cancel
        </ProcessorButton>
      )
    case 'keep':
      return (
        <ConfirmButton
          button="Keep the plan"
          title="Keep the plan?"
          run={() => api.post('/api/billing/resume')}
          variant={variant}
        >
          It goes on, and renews as it did before.
        </ConfirmButton>
      )
    case 'resume':
      return (
        <ConfirmButton
          button="Resume"
          title="Resume the plan?"
          run={() => api.post('/api/billing/resume')}
          variant={variant}
        >
          A new period begins today, and is charged to your card now.
        </ConfirmButton>
      )
    case 'pause':
      return (
        <ConfirmButton
          button="Pause"
          title="Pause the plan?"
          run={() => api.post('/api/billing/pause')}
          variant={variant}
        >
          Your plan stays open until the end of the period you have paid for. Then it closes, and
          nothing is billed until you resume it. You can withdraw the pause before it begins. What
          you have stored is kept.
        </ConfirmButton>
      )
  }
}

type ProcessorButtonProps = { open: () => Promise<void>; variant: string; children: ReactNode }

export function ProcessorButton({ open, variant, children }: ProcessorButtonProps) {
  const leave = useMutation({ mutationFn: open })
  return (
    <>
      <Button
        variant={variant}
        rightSection={<IconExternalLink size={18} aria-hidden />}
        loading={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {children}
      </Button>
      {leave.isError && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {formatProblem(leave.error)}
        </Text>
      )}
    </>
  )
}

type ConfirmButtonProps = {
  button: string
  title: string
  run: () => Promise<Subscription>
  variant: string
  children: ReactNode
}

function ConfirmButton({ button, title, run, variant, children }: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant={variant} onClick={open}>
        {button}
      </Button>
      <Confirm
        opened={opened}
        onClose={close}
        title={title}
        action={button}
        leave="Not now"
        onConfirm={() => run().then(storeSubscription)}
      >
        {children}
      </Confirm>
    </>
  )
}

/** The page shows what came of it at once; what the plan opens is asked for anew. */
export function storeSubscription(subscription: Subscription): void {
  queries.setQueryData(subscriptionQuery.queryKey, subscription)
  void queries.invalidateQueries({ queryKey: userQuery.queryKey })
  void queries.invalidateQueries({ queryKey: ['invoices'] })
}
