import { Card, Skeleton } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BusinessMetrics, MetricName } from '../api/types.ts'
import { formatCount, plural } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { t } from '../language/text.ts'
import { inboxQuery } from '../shop/inbox-query.ts'
import { readSpan } from '../usage/days.ts'
import { Change } from './change.tsx'
import { ChangeTable } from './change-table.tsx'
import { MetricChart } from './metric-chart.tsx'
import { formatChange, formatMetric, linkRows, METRIC_WORDS, nameLine } from './metric-words.ts'
import classes from './money.module.css'
import { changesQuery, metricsQuery, movementsQuery } from './money-query.ts'
import { MovementTable } from './movement-table.tsx'
import { RowsLink } from './rows-link.tsx'

const TODAY = [
  'revenue',
  'new_mrr',
  'new_accounts',
  'churned_mrr',
  'churned_accounts',
  'failure_rate',
  'calls',
  'documents',
] as const
const ACCOUNTS = ['active_accounts', 'new_accounts', 'churned_accounts'] as const
const MONTH = ['revenue', 'gross_margin', 'margin_percent', 'mrr', ...ACCOUNTS] as const
const SHOWN = 5

/** The numbers of today, each with a link to its rows. */
export function TodayPage() {
  const today = useQuery(metricsQuery(readSpan(1), { names: TODAY }))
  const month = useQuery(metricsQuery(readSpan(30), { names: MONTH }))
  return (
    <Page
      title={t('Today')}
      lead={t('Days are in UTC. Changes compare with yesterday, or with the 30 days before.')}
      wide
    >
      <section aria-label={t('Today')} className={classes.part}>
        <Loaded query={today} skeleton={<Skeleton h={120} />}>
          {(data) => (
            <StatGrid>
              <Figure metrics={data} name="revenue" label={t('Revenue today')} />
              <Figure
                metrics={data}
                name="new_mrr"
                label={t('New MRR today')}
                accounts="new_accounts"
              />
              <Figure
                metrics={data}
                name="churned_mrr"
                label={t('Churned MRR today')}
                accounts="churned_accounts"
              />
              <Figure metrics={data} name="failure_rate" label={t('Failed calls today')}>
                <Count metrics={data} name="calls" one="call" /> ·{' '}
                <Count metrics={data} name="documents" one="document" /> ·{' '}
              </Figure>
            </StatGrid>
          )}
        </Loaded>
      </section>
      <section aria-label={t('Last 30 days')} className={classes.part}>
        <Loaded query={month} skeleton={<Skeleton h={120} />}>
          {(data) => (
            <>
              <StatGrid>
                <Figure metrics={data} name="revenue" label={t('Revenue, 30 days')} days={30} />
                <Margin metrics={data} />
                <Recurring metrics={data} />
                <Inbox />
              </StatGrid>
              <RevenueChart metrics={data} />
            </>
          )}
        </Loaded>
      </section>
      <LatestPayments />
      <LatestChanges />
    </Page>
  )
}

type FigureProps = {
  metrics: BusinessMetrics
  name: MetricName
  label: string
  /** The number of customers behind it. */
  accounts?: MetricName
  days?: number
  children?: ReactNode
}

function Figure({ metrics, name, label, accounts, days = 1, children }: FigureProps) {
  const lines = metrics.totals.filter((total) => total.name === name)
  const [first] = lines
  const before = metrics.previous.find((total) => first && nameLine(total) === nameLine(first))
  const change = first && formatChange(first, first.value, before?.value ?? null)
  return (
    <Stat
      label={label}
      note={
        <>
          {accounts && `${plural(readCount(metrics, accounts), 'customer')} · `}
          {children}
          {change && (
            <>
              <Change line={first} before={before?.value ?? null} /> ·{' '}
            </>
          )}
          <RowsLink name={name} days={days} label={label} />
        </>
      }
    >
      {lines.map((line) => (
        <div key={nameLine(line)}>{formatMetric(line, line.value)}</div>
      ))}
    </Stat>
  )
}

/** Revenue by day; nothing without revenue. */
function RevenueChart({ metrics }: { metrics: BusinessMetrics }) {
  const line = metrics.totals.find(({ name, value }) => name === 'revenue' && value !== 0)
  if (line === undefined) return null
  const label = t('Revenue by day')
  return (
    <Card component="section" aria-labelledby="revenue-by-day" mt="md">
      <div className={classes.head}>
        <h2 id="revenue-by-day">{label}</h2>
        <TextLink to="/run/money" size="sm">
          {t('All metrics')}
        </TextLink>
      </div>
      <MetricChart metrics={metrics} line={line} label={label} height={200} />
    </Card>
  )
}

/** MRR with its customers, and how their number changed in 30 days. */
function Recurring({ metrics }: { metrics: BusinessMetrics }) {
  const [active = 0, added, churned] = ACCOUNTS.map((name) => readCount(metrics, name))
  const note = t('{0}, {1} new, {2} churned', plural(active, 'customer'), added, churned)
  return (
    <Stat label="MRR" note={<RowsLink name="mrr" label="MRR" note={note} />}>
      {metrics.totals
        .filter(({ name }) => name === 'mrr')
        .map((line) => (
          <div key={nameLine(line)}>{formatMetric(line, line.value)}</div>
        ))}
    </Stat>
  )
}

const readCount = ({ totals }: BusinessMetrics, name: MetricName) =>
  totals.find((total) => total.name === name)?.value ?? 0

function Margin({ metrics }: { metrics: BusinessMetrics }) {
  const find = (name: MetricName) => metrics.totals.find((total) => total.name === name)
  const [margin, percent] = [find('gross_margin'), find('margin_percent')]
  const note = percent && percent.value !== null ? formatMetric(percent, percent.value) : null
  return (
    <Stat
      label={t('Margin, 30 days')}
      note={<RowsLink name="gross_margin" label={t('Margin')} note={note} />}
    >
      {margin ? formatMetric(margin, margin.value) : '–'}
    </Stat>
  )
}

type CountProps = { metrics: BusinessMetrics; name: MetricName; one: string }

/** A number of today that opens its rows. */
function Count({ metrics, name, one }: CountProps) {
  return (
    <TextLink {...linkRows(METRIC_WORDS[name].rows, 1)} size="sm">
      {plural(readCount(metrics, name), one)}
    </TextLink>
  )
}

function Inbox() {
  const inbox = useInfiniteQuery(inboxQuery(true))
  const total = inbox.data?.pages[0]?.total
  return (
    <Stat
      label={t('Open messages')}
      note={
        <TextLink to="/shop/inbox" size="sm">
          {t('Inbox')}
        </TextLink>
      }
    >
      {total === undefined ? '–' : formatCount(total)}
    </Stat>
  )
}

function LatestPayments() {
  const movements = useInfiniteQuery(movementsQuery(readSpan(30), undefined, SHOWN))
  return (
    <section aria-labelledby="latest-payments" className={classes.part}>
      <div className={classes.head}>
        <h2 id="latest-payments">{t('Latest payments and refunds')}</h2>
        <TextLink to="/run/money" search={{ view: 'movements' }} size="sm">
          {t('All payments')}
        </TextLink>
      </div>
      <Loaded query={movements} skeleton={<Skeleton h={200} />}>
        {({ pages }) => {
          const shown = pages[0]?.movements ?? []
          return shown.length === 0 ? (
            <Notice icon={IconInbox} title={t('No payments in 30 days')}>
              {t('A payment appears here as soon as it is received.')}
            </Notice>
          ) : (
            <MovementTable movements={shown} />
          )
        }}
      </Loaded>
    </section>
  )
}

function LatestChanges() {
  const changes = useInfiniteQuery(changesQuery(readSpan(30), undefined, SHOWN))
  return (
    <section aria-labelledby="latest-changes" className={classes.part}>
      <div className={classes.head}>
        <h2 id="latest-changes">{t('New, changed and churned')}</h2>
        <TextLink to="/run/money" search={{ view: 'changes' }} size="sm">
          {t('All changes')}
        </TextLink>
      </div>
      <Loaded query={changes} skeleton={<Skeleton h={200} />}>
        {({ pages }) => {
          const shown = pages[0]?.changes ?? []
          return shown.length === 0 ? (
            <Notice icon={IconInbox} title={t('No changes of subscriptions in 30 days')}>
              {t('The service compares all subscriptions every hour.')}
            </Notice>
          ) : (
            <ChangeTable changes={shown} />
          )
        }}
      </Loaded>
    </section>
  )
}
