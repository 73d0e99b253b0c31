import { Card, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { readQuery } from '../api/queries.ts'
import type {
  AllUsageGroup,
  AllUsageGrouping,
  GetAllUsageResponse,
  Percentiles,
} from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
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
import { Stat, StatGrid } from '../components/stat.tsx'
import { t } from '../language/text.ts'
import { formatShare } from '../models/share.ts'
import { listDays, readSpan } from '../usage/days.ts'
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
  { value: '', label: t('By day') },
  { value: 'vendor', label: t('By vendor') },
  { value: 'model', label: t('By model') },
  { value: 'plan', label: t('By plan') },
  { value: 'user', label: t('By user') },
  { value: 'outcome', label: t('By status') },
]

/** Usage of all users: failures, latency, cost, and the users with the highest cost. */
export function UsageView() {
  const { days: asked = 30, group_by = 'day' } = route.useSearch()
  // A year would be a request for too many calls.
  const days = Math.min(90, asked)
  const query = { ...readSpan(days), group_by }
  const usage = useQuery({
    ...readQuery(['admin', 'usage', query], '/api/admin/usage', { query }),
    placeholderData: (previous) => previous,
  })
  return (
    <Stack>
      <Group gap="sm">
        <UsageFilters days={days} groupings={GROUPINGS} />
      </Group>
      <Loaded query={usage} skeleton={<Skeleton h={420} />}>
        {(data) => <Figures data={data} days={listDays(new Date(), days)} groupedBy={group_by} />}
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

type GroupTableProps = { groups: AllUsageGroup[]; groupedBy: AllUsageGrouping }

function GroupTable({ groups, groupedBy }: GroupTableProps) {
  const heads: Column<AllUsageGroup> = {
    head: HEADS[groupedBy],
    breaks: groupedBy === 'day' ? 'nowhere' : 'anywhere',
    cell: ({ email, key }) => email ?? formatGroupName(groupedBy, key, new Map()),
  }
  return (
    <DataTable
      label={t('Usage table')}
      miw={860}
      className="numbers"
      verticalSpacing="xs"
      highlightOnHover={false}
      rows={groups}
      getKey={({ key }) => key}
      columns={[heads, ...NUMBERS.map((column) => ({ ...column, ta: 'right' as const }))]}
    />
  )
}

const NUMBERS: Column<AllUsageGroup>[] = [
  { head: t('Requests'), cell: ({ requests }) => formatCount(requests) },
  { head: t('Failed'), cell: ({ failed, requests }) => formatShare(failed, requests) },
  { head: t('Input tokens'), cell: ({ prompt_tokens }) => formatCompact(prompt_tokens) },
  {
    head: t('Cached'),
    cell: ({ cached_tokens, prompt_tokens }) => formatShare(cached_tokens, prompt_tokens),
  },
  { head: t('Output tokens'), cell: ({ completion_tokens }) => formatCompact(completion_tokens) },
  { head: t('Median'), cell: ({ latency_ms }) => formatPercentile(latency_ms, 'p50') },
  { head: t('95th pct.'), cell: ({ latency_ms }) => formatPercentile(latency_ms, 'p95') },
  { head: t('First token'), cell: ({ first_token_ms }) => formatPercentile(first_token_ms, 'p50') },
  { head: t('Cost'), cell: ({ cost_usd }) => formatCallCost(cost_usd) },
]

function dayBars(groups: AllUsageGroup[], days: string[]) {
  const costs = new Map(groups.map(({ key, cost_usd }) => [key, cost_usd]))
  return days.map((day) => ({ key: day, name: formatUtcDay(day), value: costs.get(day) ?? 0 }))
}

function formatPercentile(percentiles: Percentiles | null, which: keyof Percentiles): string {
  return percentiles === null ? '–' : formatDuration(percentiles[which])
}
