import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatUtcDay } from '../components/format.ts'
import { t } from '../language/text.ts'
import classes from '../overview/panel.module.css'
import { Panel } from '../overview/panel.tsx'
import { fillDays, listDays } from '../usage/days.ts'
import { UsageChart } from '../usage/usage-chart.tsx'
import { usageQuery } from '../usage/usage-query.ts'
import { DAYS } from './queries.ts'

export function CallsByDay() {
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
