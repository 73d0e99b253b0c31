import { Badge, Button, Group, Select, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconCpu, IconSearch } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { OperatorModel, Switch } from '../api/types.ts'
import {
  formatCallCost,
  formatCompact,
  formatCount,
  formatExactDollars,
  plural,
} from '../components/format.ts'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import classes from '../shop/table.module.css'
import { formatShare } from './share.ts'
import { SwitchButton } from './switch-button.tsx'
import type { SwitchSubject } from './switch-dialog.tsx'

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
  const found = models.filter((one) => {
    const name = `${one.vendor}/${one.model}`.toLowerCase()
    return (
      (vendor === undefined || one.vendor === vendor) && words.every((word) => name.includes(word))
    )
  })
  const shown = isWhole ? found : found.slice(0, SHOWN_MAX)
  return (
    <>
      <Filters models={models} />
      {shown.length === 0 ? (
        <Notice icon={IconCpu} title={t('No models match')} order={3}>
          {t('Search by a part of the model’s or the vendor’s name.')}
        </Notice>
      ) : (
        <>
          <ScrollX label={t('Models')}>
            <Table highlightOnHover className="numbers">
              <Heads />
              <Table.Tbody>
                {shown.map((model) => (
                  <Row
                    key={`${model.vendor}/${model.model}`}
                    model={model}
                    switches={switches}
                    onSwitchOff={onSwitchOff}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </ScrollX>
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
  const { q, vendor } = route.useSearch()
  const navigate = route.useNavigate()
  const set = (next: { q?: string | undefined; vendor?: string | undefined }) =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })
  const search = useDebouncedCallback((typed: string) => set({ q: typed.trim() || undefined }), 250)
  return (
    <Group gap="sm" mb="md">
      <TextInput
        type="search"
        flex="1 1 14rem"
        aria-label={t('Search models')}
        placeholder={t('Model name')}
        leftSection={<IconSearch size={18} aria-hidden />}
        maxLength={200}
        defaultValue={q ?? ''}
        onChange={({ currentTarget: { value } }) => search(value)}
      />
      <Select
        aria-label={t('Vendor')}
        placeholder={t('Any vendor')}
        clearable
        w={{ base: '100%', xs: 180 }}
        value={vendor ?? null}
        onChange={(chosen) => set({ vendor: chosen ?? undefined })}
        data={[...new Set(models.map((model) => model.vendor))]}
      />
    </Group>
  )
}

function Heads() {
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{t('Model')}</Table.Th>
        <Table.Th visibleFrom="md" ta="right">
          {t('Input per million')}
        </Table.Th>
        <Table.Th visibleFrom="md" ta="right">
          {t('Output per million')}
        </Table.Th>
        <Table.Th visibleFrom="lg" ta="right">
          {t('Context')}
        </Table.Th>
        <Table.Th visibleFrom="sm" ta="right">
          {t('Calls')}
        </Table.Th>
        <Table.Th visibleFrom="sm" ta="right">
          {t('Failed')}
        </Table.Th>
        <Table.Th ta="right">{t('Cost')}</Table.Th>
        <Table.Th>
          <span className="visually-hidden">{t('Switch')}</span>
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
  )
}

type RowProps = Omit<ModelTableProps, 'models'> & { model: OperatorModel }

function Row({ model, switches, onSwitchOff }: RowProps) {
  const name = `${model.vendor}/${model.model}`
  const subject: SwitchSubject = { kind: 'model', subject: name }
  const estimate = model.is_price_estimated ? ' (estimated)' : ''
  const isOwnSwitch = switches.some(
    (one) => one.kind === 'model' && one.subject === subject.subject,
  )
  return (
    <Table.Tr>
      <Table.Td>
        <span style={{ overflowWrap: 'anywhere' }}>{name}</span>
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
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right" title={t('Price per million tokens{0}', estimate)}>
        {formatExactDollars(model.input_usd_per_million)}
        {model.is_price_estimated && '*'}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right" title={t('Price per million tokens{0}', estimate)}>
        {formatExactDollars(model.output_usd_per_million)}
        {model.is_price_estimated && '*'}
      </Table.Td>
      <Table.Td visibleFrom="lg" ta="right">
        {model.context_tokens === null ? '–' : formatCompact(model.context_tokens)}
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        {formatCount(model.calls)}
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right" className={classes.whole}>
        {formatShare(model.failed, model.calls)}
      </Table.Td>
      <Table.Td ta="right">{model.calls === 0 ? '–' : formatCallCost(model.cost_usd)}</Table.Td>
      <Table.Td ta="right" className={classes.actions}>
        {/* A pattern or the vendor’s switch is switched on where it is listed. */}
        {(model.off_reason === null || isOwnSwitch) && (
          <SwitchButton subject={subject} switches={switches} onSwitchOff={onSwitchOff} />
        )}
      </Table.Td>
    </Table.Tr>
  )
}
