import { Box } from '@mantine/core'
import { IconTerminal2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount, formatDollars, formatDuration, formatUtcDay } from '../components/format.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Failure } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { t } from '../language/text.ts'
import { formatShare } from '../models/share.ts'
import { Failures } from '../overview/failures.tsx'
import layout from '../overview/overview-page.module.css'
import classes from '../overview/panel.module.css'
import { Panel } from '../overview/panel.tsx'
import { recentFailuresQuery } from '../overview/queries.ts'
import { useUser } from '../session/user.ts'
import { fillDays, listDays } from '../usage/days.ts'
import { UsageChart } from '../usage/usage-chart.tsx'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import { FirstSteps } from './first-steps.tsx'
import { DAYS, durationsQuery } from './queries.ts'
import { TopModels } from './top-models.tsx'

/** The developer's overview: the way to the first call, then what calls did in the last days. */
export function BuildPage() {
  const has = useUser().entitlements
  return (
    <RequireEntitlement
      entitlement={has.includes('ai') ? 'ai' : 'api_keys'}
      what={t('The API')}
      page
    >
      <Page
        title={t('Overview')}
        lead={t('Your calls of the last {0} days. Days are in UTC.', DAYS)}
        wide
        actions={
          has.includes('ai') && (
            <LinkButton
              to="/playground"
              variant="default"
              leftSection={<IconTerminal2 size={18} aria-hidden />}
            >
              {t('Open playground')}
            </LinkButton>
          )
        }
      >
        {has.includes('api_keys') && has.includes('ai') && <FirstSteps />}
        <Activity />
      </Page>
    </RequireEntitlement>
  )
}

function Activity() {
  // One after the other, the panels would move what is already read.
  const isLoading = [
    useQuery(usageQuery(DAYS, 'day')),
    useQuery(usageQuery(DAYS, 'outcome')),
    useQuery(usageQuery(DAYS, 'model')),
    useQuery(durationsQuery(DAYS)),
    useQuery(allowanceQuery),
    useQuery(recentFailuresQuery),
  ].some(({ isFetched }) => !isFetched)
  if (isLoading) return <div aria-busy="true" />
  return (
    <>
      <Numbers />
      <div className={layout.columns}>
        <div className={layout.column}>
          <CallsByDay />
        </div>
        <div className={layout.column}>
          <TopModels />
          <Failures />
        </div>
      </div>
    </>
  )
}

function CallsByDay() {
  const { data } = useQuery(usageQuery(DAYS, 'day'))
  if (data === undefined) return null
  const days = listDays(new Date(`${data.to.slice(0, 10)}T12:00:00Z`), DAYS)
  const bars = fillDays(data.groups, days).map(({ key, requests }) => ({
    key,
    name: formatUtcDay(key),
    value: requests,
  }))
  return (
    <Panel title={t('Calls by day')} aside={<Link to="/usage">{t('View usage')}</Link>}>
      {data.totals.requests === 0 ? (
        <p className={classes.none}>{t('No calls in these days.')}</p>
      ) : (
        <UsageChart bars={bars} measure="requests" />
      )}
    </Panel>
  )
}

/** Calls, failures, latency and spending. */
function Numbers() {
  const usage = useQuery(usageQuery(DAYS, 'outcome'))
  const durations = useQuery(durationsQuery(DAYS))
  const allowance = useQuery(allowanceQuery)
  if (usage.isError) return <Failure problem={usage.error} retry={() => void usage.refetch()} />
  if (usage.data === undefined) return null
  const { totals, groups } = usage.data
  const failed = groups.find(({ key }) => key === 'failed')?.requests ?? 0
  const { latency_ms: latency, first_token_ms: firstToken } = durations.data ?? {}
  return (
    <Box mb="md">
      <StatGrid>
        <Stat label={t('Calls')} note={<TextLink to="/calls">{t('View calls')}</TextLink>}>
          {formatCount(totals.requests)}
        </Stat>
        <Stat
          label={t('Failed calls')}
          note={totals.requests > 0 && t('{0} of calls', formatShare(failed, totals.requests))}
        >
          {formatCount(failed)}
        </Stat>
        <Stat label={t('Median latency')} note={describeLatency(latency, firstToken)}>
          {latency ? formatDuration(latency.p50) : '–'}
        </Stat>
        <Stat label={t('Cost')} note={allowance.data && describeAllowance(allowance.data)}>
          {formatDollars(totals.cost_usd)}
        </Stat>
      </StatGrid>
    </Box>
  )
}

type Percentiles = { p50: number; p95: number } | null | undefined

function describeLatency(latency: Percentiles, firstToken: Percentiles): string | null {
  if (!latency) return null
  const first = firstToken ? t(', first token {0}', formatDuration(firstToken.p50)) : ''
  return t('95 % within {0}{1}', formatDuration(latency.p95), first)
}

type AllowanceFacts = { limit_usd: number | null; used_usd: number; reserved_usd: number }

function describeAllowance({ limit_usd: limit, used_usd, reserved_usd }: AllowanceFacts) {
  if (limit === null) return null
  return t(
    '{0} left of {1}',
    formatDollars(Math.max(0, limit - used_usd - reserved_usd)),
    formatDollars(limit),
  )
}
