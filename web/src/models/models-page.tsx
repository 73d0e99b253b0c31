import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { IconPower } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ModelsOverview, Switch } from '../api/types.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { Fact, Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { ModelTable } from './model-table.tsx'
import { modelsQuery, switchesQuery } from './models-query.ts'
import { SwitchDialog } from './switch-dialog.tsx'
import type { SwitchSubject } from './switch-kinds.ts'
import { SwitchList } from './switch-list.tsx'
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
