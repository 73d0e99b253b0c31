import { Button, Card, Group, NativeSelect, Skeleton, Table } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { BusinessMetrics, MetricInterval } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import tableClasses from '../shop/table.module.css'
import { BarChart } from '../usage/usage-chart.tsx'
import {
  formatChange,
  formatMetric,
  formatTick,
  labelLine,
  METRIC_WORDS,
  nameLine,
} from './metric-words.ts'
import classes from './money.module.css'
import { downloadMetrics, metricsQuery, readSpan } from './money-query.ts'
import { PeriodChoice } from './period-choice.tsx'

const route = getRouteApi('/app/run/run/money')

const INTERVALS: { value: MetricInterval; label: string }[] = [
  { value: 'day', label: t('By day') },
  { value: 'week', label: t('By week') },
  { value: 'month', label: t('By month') },
]

/** All metrics of a period as a table, and one of them as a chart. */
export function MetricsView() {
  const { days = 30, interval = 'day', metric } = route.useSearch()
  const navigate = route.useNavigate()
  const span = readSpan(days)
  const metrics = useQuery({
    ...metricsQuery(span, { interval }),
    placeholderData: (previous) => previous,
  })
  const download = useMutation({ mutationFn: () => downloadMetrics(span, interval) })
  return (
    <>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeSelect
          aria-label={t('Interval')}
          value={interval}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (search) => ({
                ...search,
                interval: value === 'day' ? undefined : (value as MetricInterval),
              }),
              replace: true,
              resetScroll: false,
            })
          }
          data={INTERVALS}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          {t('Export CSV')}
        </Button>
      </Group>
      <FormProblem problem={download.error} />
      <Loaded query={metrics} skeleton={<Skeleton h={640} />}>
        {(data) => <Metrics metrics={data} chosen={metric ?? 'revenue'} />}
      </Loaded>
    </>
  )
}

type MetricsProps = { metrics: BusinessMetrics; chosen: string }

function Metrics({ metrics, chosen }: MetricsProps) {
  const order = Object.keys(METRIC_WORDS)
  const lines = metrics.totals.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  const shown =
    lines.find((line) => nameLine(line) === chosen) ??
    lines.find(({ name }) => name === chosen) ??
    lines[0]
  return (
    <>
      {shown && (
        <Card component="section" aria-labelledby="chart" mb="md">
          <div className={classes.head}>
            <h2 id="chart">{labelLine(shown, lines)}</h2>
            <span className="numbers">{formatMetric(shown, shown.value)}</span>
          </div>
          <Chart metrics={metrics} line={shown} label={labelLine(shown, lines)} />
        </Card>
      )}
      <Card>
        <MetricTable metrics={metrics} lines={lines} chosen={shown && nameLine(shown)} />
      </Card>
    </>
  )
}

type Line = BusinessMetrics['totals'][number]

function Chart({ metrics, line, label }: { metrics: BusinessMetrics; line: Line; label: string }) {
  const series = metrics.series.find((one) => nameLine(one) === nameLine(line))
  const bars = metrics.starts.map((start, index) => ({
    key: start,
    name: start.slice(5),
    value: series?.values[index] ?? 0,
  }))
  return (
    <BarChart
      bars={bars}
      label={t(
        '{0}: {1} in this period. Export CSV for every number.',
        label,
        formatMetric(line, line.value),
      )}
      format={(value) => formatMetric(line, value)}
      formatTick={(value) => formatTick(line, value)}
    />
  )
}

type MetricTableProps = { metrics: BusinessMetrics; lines: Line[]; chosen: string | undefined }

function MetricTable({ metrics, lines, chosen }: MetricTableProps) {
  const navigate = route.useNavigate()
  const before = new Map(metrics.previous.map((line) => [nameLine(line), line.value]))
  const show = (metric: string) =>
    void navigate({
      search: (search) => ({ ...search, metric }),
      replace: true,
      resetScroll: false,
    })
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
        <Table.Tbody>
          {lines.map((line) => {
            const name = nameLine(line)
            const label = labelLine(line, lines)
            const { rows } = METRIC_WORDS[line.name]
            const previous = before.get(name) ?? null
            return (
              <Table.Tr key={name}>
                <Table.Td>
                  <button
                    type="button"
                    className={classes.metric}
                    aria-pressed={name === chosen}
                    onClick={() => show(name)}
                  >
                    {label}
                  </button>
                </Table.Td>
                <Table.Td ta="right" className={tableClasses.whole}>
                  {formatMetric(line, line.value)}
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm" className={tableClasses.whole}>
                  {formatMetric(line, previous)}
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm" className={tableClasses.whole}>
                  {formatChange(line, line.value, previous) ?? '–'}
                </Table.Td>
                <Table.Td ta="right">
                  {rows ? (
                    <TextLink
                      to={rows.to}
                      search={rows.search}
                      size="sm"
                      aria-label={t('Show rows of {0}', label)}
                    >
                      {t('Show')}
                    </TextLink>
                  ) : (
                    '–'
                  )}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}
