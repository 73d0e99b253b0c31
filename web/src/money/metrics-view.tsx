import { Card, Group, Skeleton, Table } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { BusinessMetrics, MetricInterval, MetricTotal } from '../api/types.ts'
import { ExportButton } from '../components/export-button.tsx'
import { NativeFilter, useSetSearch } from '../components/filters.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import tableClasses from '../components/table.module.css'
import { t } from '../language/text.ts'
import { readSpan } from '../usage/days.ts'
import { Change } from './change.tsx'
import { MetricChart } from './metric-chart.tsx'
import { formatMetric, labelLine, METRIC_GROUPS, nameLine } from './metric-words.ts'
import classes from './money.module.css'
import { downloadMetrics, metricsQuery } from './money-query.ts'
import { PeriodChoice } from './period-choice.tsx'
import { RowsLink } from './rows-link.tsx'

const route = getRouteApi('/app/run/run/money')

/** All metrics of a period as a table, and one of them as a chart. */
export function MetricsView() {
  const { days = 30, interval = 'day', metric } = route.useSearch()
  const span = readSpan(days)
  const metrics = useQuery({
    ...metricsQuery(span, { interval }),
    placeholderData: (previous) => previous,
  })
  return (
    <>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeFilter
          name="interval"
          aria-label={t('Interval')}
          all={t('By day')}
          data={[
            { value: 'week', label: t('By week') },
            { value: 'month', label: t('By month') },
          ]}
        />
        <ExportButton download={() => downloadMetrics(span, interval)} />
      </Group>
      <Loaded query={metrics} skeleton={<Skeleton h={640} />}>
        {(data) => <Metrics metrics={data} interval={interval} chosen={metric ?? 'revenue'} />}
      </Loaded>
    </>
  )
}

type MetricsProps = { metrics: BusinessMetrics; interval: MetricInterval; chosen: string }

function Metrics({ metrics, interval, chosen }: MetricsProps) {
  const lines = metrics.totals
  const shown =
    lines.find((line) => nameLine(line) === chosen) ??
    lines.find(({ name }) => name === chosen) ??
    lines.find(({ name }) => name === 'revenue')
  return (
    <>
      {shown && (
        <Card component="section" aria-labelledby="chart" mb="md">
          <div className={classes.head}>
            <h2 id="chart">{labelLine(shown, lines)}</h2>
            <span className="numbers">{formatMetric(shown, shown.value)}</span>
          </div>
          {isEmpty(metrics, shown) ? (
            <Notice icon={IconChartBarOff} title={t('Nothing in this period')}>
              {t('Choose a longer period, or another metric.')}
            </Notice>
          ) : (
            <MetricChart
              metrics={metrics}
              line={shown}
              label={labelLine(shown, lines)}
              interval={interval}
            />
          )}
        </Card>
      )}
      <Card>
        <MetricTable metrics={metrics} lines={lines} chosen={shown && nameLine(shown)} />
      </Card>
    </>
  )
}

const isEmpty = ({ series }: BusinessMetrics, line: MetricTotal) =>
  !series.some((one) => nameLine(one) === nameLine(line) && one.values.some((value) => value))

type MetricTableProps = {
  metrics: BusinessMetrics
  lines: MetricTotal[]
  chosen: string | undefined
}

function MetricTable({ metrics, lines, chosen }: MetricTableProps) {
  const setSearch = useSetSearch()
  const before = new Map(metrics.previous.map((line) => [nameLine(line), line.value]))
  return (
    <ScrollX label={t('All metrics')}>
      <Table className="numbers" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Metric')}</Table.Th>
            <Table.Th ta="right">{t('Period')}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('Period before')}
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('Change')}
            </Table.Th>
            <Table.Th ta="right">{t('Details')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        {METRIC_GROUPS.map(({ label, names }) => (
          <Table.Tbody key={label}>
            <Table.Tr className={classes.group}>
              <Table.Th scope="rowgroup" colSpan={5}>
                {label}
              </Table.Th>
            </Table.Tr>
            {names
              .flatMap((name) => lines.filter((line) => line.name === name))
              .map((line) => (
                <MetricRow
                  key={nameLine(line)}
                  line={line}
                  label={labelLine(line, lines)}
                  before={before.get(nameLine(line)) ?? null}
                  isChosen={nameLine(line) === chosen}
                  onShow={() => setSearch({ metric: nameLine(line) })}
                />
              ))}
          </Table.Tbody>
        ))}
      </Table>
    </ScrollX>
  )
}

type MetricRowProps = {
  line: MetricTotal
  label: string
  before: number | null
  isChosen: boolean
  onShow: () => void
}

function MetricRow({ line, label, before, isChosen, onShow }: MetricRowProps) {
  const { days = 30 } = route.useSearch()
  return (
    <Table.Tr>
      <Table.Td>
        <button type="button" className={classes.metric} aria-pressed={isChosen} onClick={onShow}>
          {label}
        </button>
      </Table.Td>
      <Table.Td ta="right" className={tableClasses.whole}>
        {formatMetric(line, line.value)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm" className={tableClasses.whole}>
        {formatMetric(line, before)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm" className={tableClasses.whole}>
        <Change line={line} before={before} />
      </Table.Td>
      <Table.Td ta="right">
        <RowsLink name={line.name} label={label} days={days} />
      </Table.Td>
    </Table.Tr>
  )
}
