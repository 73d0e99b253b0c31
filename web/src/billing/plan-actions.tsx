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
import { t } from '../language/text.ts'
import { openPayment, openPortal } from './processor.ts'
import type { BillingAction } from './state.ts'

/** Buttons for the plan. The first one is the primary action. */
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
          {t('See plans')}
        </LinkButton>
      )
    case 'change':
      return (
        <LinkButton to="/pricing" variant="default">
          {t('Change plan')}
        </LinkButton>
      )
    case 'pay':
      return (
        <ProcessorButton variant={variant} open={() => openPayment()}>
          {t('Pay now')}
        </ProcessorButton>
      )
    case 'confirm':
      return (
        <ProcessorButton variant={variant} open={() => openPayment()}>
          {t('Confirm payment')}
        </ProcessorButton>
      )
    case 'card':
      return (
        <ProcessorButton variant={variant} open={() => openPortal('card')}>
          {t('Change card')}
        </ProcessorButton>
      )
    case 'cancel':
      return (
        <ProcessorButton variant={variant} open={() => openPortal('cancel')}>
          {t('Cancel plan')}
        </ProcessorButton>
      )
    case 'keep':
      return (
        <ConfirmButton
          button={t('Keep plan')}
          title={t('Keep your plan?')}
          run={() => api.post('/api/billing/resume')}
          variant={variant}
        >
          {t('Your plan continues and renews as before.')}
        </ConfirmButton>
      )
    case 'resume':
      return (
        <ConfirmButton
          button={t('Resume')}
          title={t('Resume your plan?')}
          run={() => api.post('/api/billing/resume')}
          variant={variant}
        >
          {t('A new period starts today. We charge your card now.')}
        </ConfirmButton>
      )
    case 'pause':
      return (
        <ConfirmButton
          button={t('Pause')}
          title={t('Pause your plan?')}
          run={() => api.post('/api/billing/pause')}
          variant={variant}
        >
          {t(
            'Your plan continues until the end of the paid period, then pauses. We bill nothing until you resume it. You can cancel the pause before it starts. Your data is kept.',
          )}
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
        leave={t('Cancel')}
        onConfirm={() => run().then(storeSubscription)}
      >
        {children}
      </Confirm>
    </>
  )
}

/** Shows the new state immediately and reloads what depends on it. */
export function storeSubscription(subscription: Subscription): void {
  queries.setQueryData(subscriptionQuery.queryKey, subscription)
  void queries.invalidateQueries({ queryKey: userQuery.queryKey })
  void queries.invalidateQueries({ queryKey: ['invoices'] })
}
