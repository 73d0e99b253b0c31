import { Card, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type {
  AllUsageGroup,
  AllUsageGrouping,
  GetAllUsageResponse,
  Percentiles,
} from '../api/types.ts'
import {
  formatCallCost,
  formatCompact,
  formatCount,
  formatDollars,
  formatDuration,
  formatUtcDay,
} from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { locale } from '../language/language.ts'
import { t } from '../language/text.ts'
import { listDays } from '../usage/days.ts'
import { formatGroupName } from '../usage/group-name.ts'
import { UsageChart } from '../usage/usage-chart.tsx'
import { UsageFilters } from '../usage/usage-filters.tsx'

const route = getRouteApi('/app/run/run/money')

const HEADS: Record<AllUsageGrouping, string> = {
  day: t('Day'),
  vendor: t('Vendor'),
  model: t('Model'),
  plan: t('Plan'),
  user: t('User'),
  outcome: t('Status'),
}

const GROUPINGS = [
  ['day', t('By day')],
  ['vendor', t('By vendor')],
  ['model', t('By model')],
  ['plan', t('By plan')],
  ['user', t('By user')],
  ['outcome', t('By status')],
] as const

/** Usage of all users: failures, latency, cost, and the users with the highest cost. */
export function UsageView() {
  const { days: asked = 30, group_by = 'day' } = route.useSearch()
  // A year would be a request for too many calls.
  const days = Math.min(90, asked)
  const navigate = route.useNavigate()
  const span = listDays(new Date(), days)
  const query = { from: span[0], to: span.at(-1), group_by }
  const usage = useQuery({
    queryKey: ['admin', 'usage', query],
    queryFn: ({ signal }) => api.get('/api/admin/usage', { query, signal }),
    placeholderData: (previous) => previous,
  })
  const set = (next: object) =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })

  return (
    <Stack>
      <Group gap="sm">
        <UsageFilters days={days} groupedBy={group_by} groupings={GROUPINGS} onChange={set} />
      </Group>
      <Loaded query={usage} skeleton={<Skeleton h={420} />}>
        {(data) => <Figures data={data} days={span} groupedBy={group_by} />}
      </Loaded>
    </Stack>
  )
}

type FiguresProps = { data: GetAllUsageResponse; days: string[]; groupedBy: AllUsageGrouping }

function Figures({ data, days, groupedBy }: FiguresProps) {
  const { totals, groups, top_users: top } = data
  if (totals.requests === 0) {
    return (
      <Card>
        <Notice icon={IconChartBarOff} title={t('No calls in this period')}>
          {t('No user has called a model or searched documents.')}
        </Notice>
      </Card>
    )
  }
  return (
    <>
      <StatGrid>
        <Stat
          label={t('Requests')}
          note={t(
            '{0} failed, {1} cancelled',
            formatCount(totals.failed),
            formatCount(totals.cancelled),
          )}
        >
          {formatCount(totals.requests)}
        </Stat>
        <Stat
          label={t('Tokens')}
          note={t(
            '{0} of input tokens cached',
            formatShare(totals.cached_tokens, totals.prompt_tokens),
          )}
        >
          {formatCompact(totals.prompt_tokens + totals.completion_tokens)}
        </Stat>
        <Stat label={t('Model cost')} note={t('List price')}>
          {formatDollars(totals.cost_usd)}
        </Stat>
        <Stat
          label={t('Median latency')}
          note={t('95th percentile {0}', formatPercentile(totals.latency_ms, 'p95'))}
        >
          {formatPercentile(totals.latency_ms, 'p50')}
        </Stat>
      </StatGrid>
      {groupedBy === 'day' && (
        <Card component="section" aria-label={t('Cost by day')}>
          <UsageChart bars={dayBars(groups, days)} measure="cost" />
        </Card>
      )}
      <Card component="section" aria-label={t('Usage in detail')}>
        <GroupTable groups={groups} groupedBy={groupedBy} />
        {data.is_sampled && (
          <Text c="dimmed" size="sm" mt="sm">
            {t('Latencies come from a sample, because there were too many calls.')}
          </Text>
        )}
      </Card>
      {groupedBy !== 'user' && (
        <Card component="section" aria-labelledby="top-users">
          <Title order={2} fz="h3" mb="sm" id="top-users">
            {t('Top users by cost')}
          </Title>
          <Table className="numbers" verticalSpacing="xs">
            <Table.Tbody>
              {top.map(({ id, email, requests, cost_usd }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{email ?? id}</Table.Td>
                  <Table.Td ta="right">{formatCount(requests)}</Table.Td>
                  <Table.Td ta="right">{formatDollars(cost_usd)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Card>
      )}
    </>
  )
}

function GroupTable({
  groups,
  groupedBy,
}: {
  groups: AllUsageGroup[]
  groupedBy: AllUsageGrouping
}) {
  return (
    <ScrollX label={t('Usage table')}>
      <Table miw={860} className="numbers" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{HEADS[groupedBy]}</Table.Th>
            <Table.Th ta="right">{t('Requests')}</Table.Th>
            <Table.Th ta="right">{t('Failed')}</Table.Th>
            <Table.Th ta="right">{t('Input tokens')}</Table.Th>
            <Table.Th ta="right">{t('Cached')}</Table.Th>
            <Table.Th ta="right">{t('Output tokens')}</Table.Th>
            <Table.Th ta="right">{t('Median')}</Table.Th>
            <Table.Th ta="right">{t('95th pct.')}</Table.Th>
            <Table.Th ta="right">{t('First token')}</Table.Th>
            <Table.Th ta="right">{t('Cost')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={group.key}>
              <Table.Td
                style={
                  groupedBy === 'day' ? { whiteSpace: 'nowrap' } : { overflowWrap: 'anywhere' }
                }
              >
                {group.email ?? formatGroupName(groupedBy, group.key, new Map())}
              </Table.Td>
              <Table.Td ta="right">{formatCount(group.requests)}</Table.Td>
              <Table.Td ta="right">{formatShare(group.failed, group.requests)}</Table.Td>
              <Table.Td ta="right">{formatCompact(group.prompt_tokens)}</Table.Td>
              <Table.Td ta="right">
                {formatShare(group.cached_tokens, group.prompt_tokens)}
              </Table.Td>
              <Table.Td ta="right">{formatCompact(group.completion_tokens)}</Table.Td>
              <Table.Td ta="right">{formatPercentile(group.latency_ms, 'p50')}</Table.Td>
              <Table.Td ta="right">{formatPercentile(group.latency_ms, 'p95')}</Table.Td>
              <Table.Td ta="right">{formatPercentile(group.first_token_ms, 'p50')}</Table.Td>
              <Table.Td ta="right">{formatCallCost(group.cost_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function dayBars(groups: AllUsageGroup[], days: string[]) {
  const costs = new Map(groups.map(({ key, cost_usd }) => [key, cost_usd]))
  return days.map((day) => ({ key: day, name: formatUtcDay(day), value: costs.get(day) ?? 0 }))
}

function formatPercentile(percentiles: Percentiles | null, which: keyof Percentiles): string {
  return percentiles === null ? '–' : formatDuration(percentiles[which])
}

function formatShare(part: number, whole: number): string {
  if (part === 0) return '0 %'
  return `${((100 * part) / whole).toLocaleString(locale, { maximumFractionDigits: 1 })} %`
}
