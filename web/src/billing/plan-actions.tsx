import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconExternalLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { queries, subscriptionQuery, userQuery } from '../api/queries.ts'
import type { Subscription } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { ProblemText } from '../components/form-problem.tsx'
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

/** Actions at the processor. */
const LEAVING = {
  pay: { label: t('Pay now'), open: () => openPayment() },
  confirm: { label: t('Confirm payment'), open: () => openPayment() },
  card: { label: t('Change card'), open: () => openPortal('card') },
  cancel: { label: t('Cancel plan'), open: () => openPortal('cancel') },
}

/** Actions of the service, after a question. */
const CONFIRMED = {
  keep: {
    label: t('Keep plan'),
    title: t('Keep your plan?'),
    text: t('Your plan continues and renews as before.'),
    address: '/api/billing/resume',
  },
  resume: {
    label: t('Resume'),
    title: t('Resume your plan?'),
    text: t('A new period starts today. We charge your card now.'),
    address: '/api/billing/resume',
  },
  pause: {
    label: t('Pause'),
    title: t('Pause your plan?'),
    text: t(
      'Your plan continues until the end of the paid period, then pauses. We bill nothing until you resume it. You can cancel the pause before it starts. Your data is kept.',
    ),
    address: '/api/billing/pause',
  },
} as const

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
    case 'keep':
    case 'resume':
    case 'pause':
      return <ConfirmButton {...CONFIRMED[action]} variant={variant} />
    default:
      return (
        <ProcessorButton open={LEAVING[action].open} variant={variant}>
          {LEAVING[action].label}
        </ProcessorButton>
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
      <ProblemText problem={leave.error} />
    </>
  )
}

type ConfirmButtonProps = (typeof CONFIRMED)[keyof typeof CONFIRMED] & { variant: string }

function ConfirmButton({ label, title, text, address, variant }: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant={variant} onClick={open}>
        {label}
      </Button>
      <Confirm
        opened={opened}
        onClose={close}
        title={title}
        action={label}
        onConfirm={() => api.post(address).then(storeSubscription)}
      >
        {text}
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
