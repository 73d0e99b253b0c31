import { Badge, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SetupState } from '../api/types.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { Panel } from '../shop/facts.tsx'
import { BrandStep } from './brand-step.tsx'
import { MailForm } from './mail-form.tsx'
import { ModelForm } from './model-form.tsx'
import { PaymentsForm } from './payments-form.tsx'
import { PlansForm } from './plans-form.tsx'
import { ReadyStep } from './ready-step.tsx'
import { Restart } from './restart.tsx'
import { setupQuery } from './setup-query.ts'

export function SetupPage() {
  const setup = useQuery(setupQuery)
  return (
    <Page
      title="Setup"
      lead="Name your service and connect it. Each key is tested before it is saved, and keys of the environment take precedence."
    >
      <Loaded query={setup} skeleton={<Skeleton h={480} />}>
        {(state) => (
          <Stack gap="md">
            <Restart state={state} />
            <BrandStep />
            <Step title="Payments" state={state.payments.state} fixedBy={state.payments.fixed_by}>
              <PaymentsForm state={state} />
            </Step>
            <Step title="Plans" state={describePlans(state)} fixedBy={state.plans.fixed_by}>
              <PlansForm state={state} />
            </Step>
            <Step title="Models" state={describeModels(state)} fixedBy={null}>
              <ModelForm state={state} />
            </Step>
            <Step title="Email" state={state.mail.state} fixedBy={state.mail.fixed_by}>
              <MailForm state={state} />
            </Step>
            <ReadyStep state={state} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const LABELS = {
  live: ['Live', 'pine'],
  test: ['Test mode', 'pine'],
  on: ['Connected', 'pine'],
  sandbox: ['Sandbox', 'brass'],
  off: ['Not connected', 'gray'],
} as const

type StepProps = {
  title: string
  state: keyof typeof LABELS
  fixedBy: string | null
  children: ReactNode
}

function Step({ title, state, fixedBy, children }: StepProps) {
  const [label, color] = LABELS[state]
  return (
    <Panel title={title} aside={<Badge color={color}>{label}</Badge>}>
      {fixedBy === null ? (
        children
      ) : (
        <Group gap="xs">
          <Text size="sm">
            The environment sets <code>{fixedBy}</code>. Change it there.
          </Text>
        </Group>
      )}
    </Panel>
  )
}

function describePlans({ plans, payments }: SetupState) {
  if (payments.state === 'sandbox') return 'sandbox'
  return plans.plans.some(({ prices }) => prices.month || prices.year) ? 'on' : 'off'
}

function describeModels({ models }: SetupState) {
  if (models.some(({ state }) => state === 'on')) return 'on'
  return models.some(({ state }) => state === 'sandbox') ? 'sandbox' : 'off'
}
