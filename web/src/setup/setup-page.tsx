import { Badge, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SetupState } from '../api/types.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
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
      title={t('Setup')}
      lead={t(
        'Name your service and connect it. Each key is tested before it is saved, and keys of the environment take precedence.',
      )}
    >
      <Loaded query={setup} skeleton={<Skeleton h={480} />}>
        {(state) => (
          <Stack gap="md">
            <Restart state={state} />
            <BrandStep />
            <Step
              title={t('Payments')}
              state={state.payments.state}
              fixedBy={state.payments.fixed_by}
            >
              <PaymentsForm state={state} />
            </Step>
            <Step title={t('Plans')} state={describePlans(state)} fixedBy={state.plans.fixed_by}>
              <PlansForm state={state} />
            </Step>
            <Step title={t('Models')} state={describeModels(state)} fixedBy={null}>
              <ModelForm state={state} />
            </Step>
            <Step title={t('Email')} state={state.mail.state} fixedBy={state.mail.fixed_by}>
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
  live: [t('Live'), 'pine'],
  test: [t('Test mode'), 'pine'],
  on: [t('Connected'), 'pine'],
  sandbox: [t('Sandbox'), 'brass'],
  off: [t('Not connected'), 'gray'],
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
            {rich('The environment sets {0}. Change it there.', <code>{fixedBy}</code>)}
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
