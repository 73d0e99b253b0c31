import { Box, Card, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { keysQuery } from '../api/queries.ts'
import type { GetUsageResponse, UsageGroup } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { useSetSearch } from '../components/filters.tsx'
import { formatCompact, formatCount, formatDollars } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { AllowanceCard } from './allowance-card.tsx'
import { fillDays, listDays } from './days.ts'
import { formatGroupName } from './group-name.ts'
import { type Bar, UsageChart } from './usage-chart.tsx'
import { UsageFilters } from './usage-filters.tsx'
import { usageQuery } from './usage-query.ts'

const route = getRouteApi('/app/usage')

const GROUPINGS = [
  { value: '', label: t('By day') },
  { value: 'model', label: t('By model') },
  { value: 'key', label: t('By key') },
  { value: 'end_user', label: t('By end user') },
  { value: 'vendor', label: t('By vendor') },
  { value: 'outcome', label: t('By status') },
]

export function UsagePage() {
  const { days = 30, group_by = 'day', view = 'chart', measure = 'tokens' } = route.useSearch()
  const setSearch = useSetSearch()
  const usage = useQuery({ ...usageQuery(days, group_by), placeholderData: (previous) => previous })
  const formatName = useNames(group_by)
  return (
    <Page
      wide
      title={t('Usage')}
      lead={t('Includes failed calls. Days are in UTC.')}
      actions={
        <LinkButton to="/calls" variant="default">
          {t('View calls')}
        </LinkButton>
      }
    >
      <Box mb="lg">
        <AllowanceCard />
      </Box>
      <Group mb="md" gap="sm">
        <UsageFilters days={days} groupings={GROUPINGS} />
        <SegmentedControl
          aria-label={t('Measure')}
          value={measure}
          onChange={(value) => setSearch({ measure: value === 'tokens' ? undefined : value })}
          data={[
            { value: 'tokens', label: t('Tokens') },
            { value: 'requests', label: t('Requests') },
            { value: 'cost', label: t('Cost') },
          ]}
        />
        <SegmentedControl
          aria-label={t('View')}
          value={view}
          onChange={(value) => setSearch({ view: value === 'chart' ? undefined : value })}
          data={[
            { value: 'chart', label: t('Chart') },
            { value: 'table', label: t('Table') },
          ]}
        />
      </Group>
      <Loaded query={usage} skeleton={<Skeleton h={420} />}>
        {(data) => (
          <Stack>
            <StatGrid>
              <Stat label={t('Requests')}>{formatCount(data.totals.requests)}</Stat>
              <Stat label={t('Input tokens')}>{formatCompact(data.totals.prompt_tokens)}</Stat>
              <Stat label={t('Output tokens')}>{formatCompact(data.totals.completion_tokens)}</Stat>
              <Stat label={t('Cost')}>{formatDollars(data.totals.cost_usd)}</Stat>
            </StatGrid>
            <Card component="section" aria-label={t('Usage in detail')}>
              {data.totals.requests === 0 ? (
                <Notice icon={IconChartBarOff} title={t('No calls in this period')}>
                  {t('Calls appear here within moments.')}
                </Notice>
              ) : view === 'table' ? (
                <UsageTable groups={data.groups} groupedBy={group_by} nameOf={formatName} />
              ) : (
                <UsageChart
                  bars={buildBars(data, days, group_by, measure, formatName)}
                  measure={measure}
                />
              )}
              {data.has_more && (
                <Text c="dimmed" size="sm" mt="sm">
                  {t('Showing the {0} most expensive; totals include all.', data.groups.length)}
                </Text>
              )}
            </Card>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Returns a function that labels groups. */
function useNames(groupedBy: string): (key: string) => string {
  const hasKeys = useUser().entitlements.includes('api_keys')
  const keys = useQuery({ ...keysQuery, enabled: groupedBy === 'key' && hasKeys })
  const names = new Map(keys.data?.map(({ id, name }) => [id, name]))
  return (key) => formatGroupName(groupedBy, key, names)
}

function buildBars(
  data: GetUsageResponse,
  days: number,
  groupedBy: string,
  measure: string,
  nameOf: (key: string) => string,
): Bar[] {
  const groups =
    groupedBy === 'day'
      ? fillDays(data.groups, listDays(new Date(`${data.to.slice(0, 10)}T12:00:00Z`), days))
      : data.groups
  return groups.map((group) => ({
    key: group.key,
    name: nameOf(group.key),
    value:
      measure === 'requests'
        ? group.requests
        : measure === 'cost'
          ? group.cost_usd
          : group.total_tokens,
  }))
}

const HEADS = {
  day: t('Day'),
  model: t('Model'),
  key: t('Key'),
  end_user: t('End user'),
  vendor: t('Vendor'),
  outcome: t('Status'),
} as const

const NUMBERS: Column<UsageGroup>[] = [
  { head: t('Requests'), ta: 'right', cell: ({ requests }) => formatCount(requests) },
  {
    head: t('Input tokens'),
    ta: 'right',
    visibleFrom: 'sm',
    cell: ({ prompt_tokens }) => formatCount(prompt_tokens),
  },
  {
    head: t('Output tokens'),
    ta: 'right',
    visibleFrom: 'sm',
    cell: ({ completion_tokens }) => formatCount(completion_tokens),
  },
  { head: t('Tokens'), ta: 'right', cell: ({ total_tokens }) => formatCount(total_tokens) },
  { head: t('Cost'), ta: 'right', cell: ({ cost_usd }) => formatDollars(cost_usd) },
]

type UsageTableProps = {
  groups: UsageGroup[]
  groupedBy: keyof typeof HEADS
  nameOf: (key: string) => string
}

function UsageTable({ groups, groupedBy, nameOf }: UsageTableProps) {
  return (
    <DataTable
      label={t('Usage table')}
      miw={{ base: 0, sm: 560 }}
      className="numbers"
      verticalSpacing="xs"
      highlightOnHover={false}
      rows={groups}
      getKey={({ key }) => key}
      columns={[{ head: HEADS[groupedBy], cell: ({ key }) => nameOf(key) }, ...NUMBERS]}
    />
  )
}
