import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatCount, formatDollars, formatDuration } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Failure } from '../components/notice.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { t } from '../language/text.ts'
import { formatShare } from '../models/share.ts'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import { DAYS, durationsQuery } from './queries.ts'

/** Calls, failures, latency and spending. */
export function Numbers() {
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
