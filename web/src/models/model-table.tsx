import { Badge, Button, Group, Text } from '@mantine/core'
import { IconCpu } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { OperatorModel, Switch } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { SearchField, SelectFilter } from '../components/filters.tsx'
import {
  formatCallCost,
  formatCompact,
  formatCount,
  formatExactDollars,
  plural,
} from '../components/format.ts'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { formatShare } from './share.ts'
import { SwitchButton } from './switch-button.tsx'
import { isSwitchedOff, type SwitchSubject } from './switch-kinds.ts'

const route = getRouteApi('/app/run/run/models')

/** Routers list hundreds of models, most of which nobody calls. */
const SHOWN_MAX = 25

type ModelTableProps = {
  models: readonly OperatorModel[]
  switches: readonly Switch[]
  onSwitchOff: (subject: SwitchSubject) => void
}

export function ModelTable({ models, switches, onSwitchOff }: ModelTableProps) {
  const { q = '', vendor } = route.useSearch()
  const [isWhole, setIsWhole] = useState(false)
  const words = q.toLowerCase().split(/\s+/)
  const found = models.filter(
    (model) =>
      (vendor === undefined || model.vendor === vendor) &&
      words.every((word) => nameModel(model).toLowerCase().includes(word)),
  )
  const shown = isWhole ? found : found.slice(0, SHOWN_MAX)
  const switchColumn: Column<OperatorModel> = {
    head: t('Switch'),
    hasButtons: true,
    ta: 'right',
    cell: (model) => {
      const subject: SwitchSubject = { kind: 'model', subject: nameModel(model) }
      // A pattern or the vendor’s switch is switched on where it is listed.
      return (
        (model.off_reason === null || isSwitchedOff(switches, subject)) && (
          <SwitchButton subject={subject} switches={switches} onSwitchOff={onSwitchOff} />
        )
      )
    },
  }
  return (
    <>
      <Filters models={models} />
      {shown.length === 0 ? (
        <Notice icon={IconCpu} title={t('No models match')} order={3}>
          {t('Search by a part of the model’s or the vendor’s name.')}
        </Notice>
      ) : (
        <>
          <DataTable
            label={t('Models')}
            className="numbers"
            rows={shown}
            getKey={nameModel}
            columns={[...COLUMNS, switchColumn]}
          />
          <Group justify="space-between" mt="md">
            <Text c="dimmed" size="sm" role="status">
              {plural(found.length, 'model')}
            </Text>
            {shown.length < found.length && (
              <Button variant="light" onClick={() => setIsWhole(true)}>
                {t('Show all')}
              </Button>
            )}
          </Group>
        </>
      )}
    </>
  )
}

function Filters({ models }: { models: readonly OperatorModel[] }) {
  return (
    <Group gap="sm" mb="md">
      <SearchField flex="1 1 14rem" aria-label={t('Search models')} placeholder={t('Model name')} />
      <SelectFilter
        name="vendor"
        aria-label={t('Vendor')}
        placeholder={t('Any vendor')}
        w={{ base: '100%', xs: 180 }}
        data={[...new Set(models.map((model) => model.vendor))]}
      />
    </Group>
  )
}

const nameModel = ({ vendor, model }: OperatorModel) => `${vendor}/${model}`

const COLUMNS: Column<OperatorModel>[] = [
  { head: t('Model'), cell: (model) => <Model model={model} /> },
  {
    head: t('Input per million'),
    visibleFrom: 'md',
    ta: 'right',
    title: describePrice,
    cell: (model) => formatPrice(model, model.input_usd_per_million),
  },
  {
    head: t('Output per million'),
    visibleFrom: 'md',
    ta: 'right',
    title: describePrice,
    cell: (model) => formatPrice(model, model.output_usd_per_million),
  },
  {
    head: t('Context'),
    visibleFrom: 'lg',
    ta: 'right',
    cell: ({ context_tokens }) => (context_tokens === null ? '–' : formatCompact(context_tokens)),
  },
  { head: t('Calls'), visibleFrom: 'sm', ta: 'right', cell: ({ calls }) => formatCount(calls) },
  {
    head: t('Failed'),
    visibleFrom: 'sm',
    ta: 'right',
    breaks: 'nowhere',
    cell: ({ failed, calls }) => formatShare(failed, calls),
  },
  {
    head: t('Cost'),
    ta: 'right',
    cell: ({ calls, cost_usd }) => (calls === 0 ? '–' : formatCallCost(cost_usd)),
  },
]

function Model({ model }: { model: OperatorModel }) {
  return (
    <>
      <span style={{ overflowWrap: 'anywhere' }}>{nameModel(model)}</span>
      <Group gap={6} mt={2}>
        {model.is_default && <Badge color="pine">{t('Default')}</Badge>}
        {model.off_reason !== null && (
          <Badge color="red" title={model.off_reason}>
            {t('Off')}
          </Badge>
        )}
      </Group>
      <Text c="dimmed" size="sm" hiddenFrom="md">
        {t(
          '{0} in, {1} out per million',
          formatExactDollars(model.input_usd_per_million),
          formatExactDollars(model.output_usd_per_million),
        )}
      </Text>
    </>
  )
}

function describePrice({ is_price_estimated }: OperatorModel): string {
  return t('Price per million tokens{0}', is_price_estimated ? ' (estimated)' : '')
}

function formatPrice({ is_price_estimated }: OperatorModel, amount: number): string {
  return `${formatExactDollars(amount)}${is_price_estimated ? '*' : ''}`
}
