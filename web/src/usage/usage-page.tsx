import { Box, Card, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { keysQuery } from '../api/queries.ts'
import type { GetUsageResponse } from '../api/types.ts'
import { formatCompact, formatCount, formatDollars } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { useUser } from '../session/user.ts'
import { AllowanceCard } from './allowance-card.tsx'
import { fillDays, listDays } from './days.ts'
import { formatGroupName } from './group-name.ts'
import { type Bar, UsageChart } from './usage-chart.tsx'
import { UsageFilters } from './usage-filters.tsx'
import { usageQuery } from './usage-query.ts'
import { UsageTable } from './usage-table.tsx'

const route = getRouteApi('/app/usage')

const GROUPINGS = [
  ['day', 'By day'],
  ['model', 'By model'],
  ['key', 'By key'],
  ['end_user', 'By end user'],
  ['vendor', 'By vendor'],
  ['outcome', 'By how they ended'],
] as const

export function UsagePage() {
  const { days = 30, group_by = 'day', view = 'chart', measure = 'tokens' } = route.useSearch()
  const navigate = route.useNavigate()
  const usage = useQuery({ ...usageQuery(days, group_by), placeholderData: (previous) => previous })
  const formatName = useNames(group_by)
  const set = (next: object) =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })

  return (
    <Page
      title="Usage"
      lead="Every call to a model or to your documents, in UTC days. Calls that failed count too."
      actions={
        <LinkButton to="/calls" variant="default">
          Call by call
        </LinkButton>
      }
    >
      <Box mb="lg">
        <AllowanceCard />
      </Box>
      <Group mb="md" gap="sm">
        <UsageFilters days={days} groupedBy={group_by} groupings={GROUPINGS} onChange={set} />
        <SegmentedControl
          aria-label="Measure"
          value={measure}
          onChange={(value) => set({ measure: value === 'tokens' ? undefined : value })}
          data={[
            { value: 'tokens', label: 'Tokens' },
            { value: 'requests', label: 'Requests' },
            { value: 'cost', label: 'Cost' },
          ]}
        />
        <SegmentedControl
          aria-label="View"
          value={view}
          onChange={(value) => set({ view: value === 'chart' ? undefined : value })}
          data={[
            { value: 'chart', label: 'Chart' },
            { value: 'table', label: 'Table' },
          ]}
        />
      </Group>
      <Loaded query={usage} skeleton={<Skeleton h={420} />}>
        {(data) => (
          <Stack>
            <StatGrid>
              <Stat label="Requests">{formatCount(data.totals.requests)}</Stat>
              <Stat label="Tokens in">{formatCompact(data.totals.prompt_tokens)}</Stat>
              <Stat label="Tokens out">{formatCompact(data.totals.completion_tokens)}</Stat>
              <Stat label="Used of your allowance">{formatDollars(data.totals.cost_usd)}</Stat>
            </StatGrid>
            <Card component="section" aria-label="Usage in detail">
              {data.totals.requests === 0 ? (
                <Notice icon={IconChartBarOff} title="No calls in this time">
                  Ask something or call the API, and it shows here within moments.
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
                  These are the {data.groups.length} dearest; the sums above are of all.
                </Text>
              )}
            </Card>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** What a group is called: the day, the model, or the key's name where it still has one. */
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
    name: groupedBy === 'day' ? group.key.slice(5) : nameOf(group.key),
    value:
      measure === 'requests'
        ? group.requests
        : measure === 'cost'
          ? group.cost_usd
          : group.total_tokens,
  }))
}
