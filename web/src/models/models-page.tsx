import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { IconPower } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ModelsOverview, Switch } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import rows from '../customers/customer-page.module.css'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Fact, Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { ModelTable } from './model-table.tsx'
import { modelsQuery, switchesQuery, switchOn } from './models-query.ts'
import { SwitchDialog } from './switch-dialog.tsx'
import { SWITCH_KINDS, type SwitchSubject } from './switch-kinds.ts'
import { VendorTable } from './vendor-table.tsx'

type Opened = { subject?: SwitchSubject }

export function ModelsPage() {
  const models = useQuery(modelsQuery)
  const switches = useQuery(switchesQuery)
  const [opened, setOpened] = useState<Opened | null>(null)
  return (
    <Page
      title={t('Models')}
      lead={t('Vendors, prices and switches. Calls and costs are of the last 30 days.')}
      wide
      actions={
        <Button
          variant="default"
          leftSection={<IconPower size={18} aria-hidden />}
          onClick={() => setOpened({})}
        >
          {t('Switch off…')}
        </Button>
      }
    >
      <Loaded query={models} skeleton={<Skeleton h={420} />}>
        {(overview) => (
          <Sections
            overview={overview}
            switches={switches.data?.switches ?? []}
            onSwitchOff={(subject) => setOpened({ subject })}
          />
        )}
      </Loaded>
      {opened && <SwitchDialog given={opened.subject} onClose={() => setOpened(null)} />}
    </Page>
  )
}

type SectionsProps = {
  overview: ModelsOverview
  switches: Switch[]
  onSwitchOff: (subject: SwitchSubject) => void
}

function Sections({ overview, switches, onSwitchOff }: SectionsProps) {
  const { vendors, models } = overview
  const configured = vendors.filter(({ state }) => state !== 'off')
  const missing = vendors.filter(({ state }) => state === 'off')
  return (
    <Stack gap="xl">
      <SwitchList switches={switches} />
      <div>
        <VendorTable vendors={configured} switches={switches} onSwitchOff={onSwitchOff} />
        {missing.length > 0 && (
          <Text c="dimmed" size="sm" mt="sm">
            {t('Without a key:')}{' '}
            {missing
              .map(({ label, key_setting }) =>
                key_setting === null ? label : `${label} (${key_setting})`,
              )
              .join(', ')}
            .
          </Text>
        )}
      </div>
      <div>
        <ModelTable models={models} switches={switches} onSwitchOff={onSwitchOff} />
      </div>
      <Routes overview={overview} />
    </Stack>
  )
}

/** Where calls go that name no model, an alias, or a model whose vendor fails. */
function Routes({ overview }: { overview: ModelsOverview }) {
  const { default_model, fallbacks, aliases } = overview
  return (
    <div className={layout.facts}>
      <Panel title={t('Routes')}>
        <dl>
          <Fact label={t('Default')}>
            {default_model ?? t('None: calls without a model are rejected')}
          </Fact>
          <Fact label={t('Fallbacks')}>
            {fallbacks.length === 0 ? t('None. Set LLM_FALLBACKS.') : fallbacks.join(', then ')}
          </Fact>
          {aliases.map(({ name, strategy, models }) => (
            <Fact key={name} label={name}>
              {models.join(', ')}
              {strategy !== null && t(' (by {0})', strategy)}
            </Fact>
          ))}
        </dl>
      </Panel>
    </div>
  )
}

/** Everything that is off, with the reason that rejected callers read. */
function SwitchList({ switches }: { switches: Switch[] }) {
  if (switches.length === 0) return null
  return (
    <Panel title={t('Switched off')}>
      <ul className={rows.rows}>
        {switches.map((one) => (
          <SwitchRow key={`${one.kind} ${one.subject}`} off={one} />
        ))}
      </ul>
    </Panel>
  )
}

function SwitchRow({ off }: { off: Switch }) {
  const { kind, subject, email, reason, set_at } = off
  const on = useMutation({ mutationFn: () => switchOn(off) })
  const name = kind === 'user' && email !== null ? email : subject
  return (
    <li>
      <div>
        <Text size="sm" fw={550}>
          {SWITCH_KINDS[kind].label}: {name}
        </Text>
        <small>
          {rich(
            '{0}since {1}: {2}',
            kind === 'key' && email !== null && `${email}, `,
            formatTime(set_at),
            reason,
          )}
        </small>
        <FormProblem problem={on.error} />
      </div>
      <Button
        variant="default"
        size="compact-sm"
        style={{ flexShrink: 0 }}
        aria-label={t('Switch on {0}', name)}
        loading={on.isPending}
        onClick={() => on.mutate()}
      >
        {t('Switch on')}
      </Button>
    </li>
  )
}
