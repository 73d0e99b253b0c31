import { Badge, Box, Button, Group, Skeleton, Text } from '@mantine/core'
import { IconHeartbeat } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readQuery } from '../api/queries.ts'
import type { HealthCheck, HealthReport, ServicePart } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { formatAge, formatBytes, formatExactTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import classes from '../components/table.module.css'
import { translateSentence } from '../language/problem-text.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import money from '../money/money.module.css'
import { Fact, Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'

/** What works now, with the page or the setting that repairs the rest. */
export function HealthPage() {
  const health = useQuery({
    ...readQuery(['admin', 'health'], '/api/admin/health'),
    staleTime: 0,
  })
  return (
    <Page
      title={t('Health')}
      lead={t('Checks of the service and of everything it calls.')}
      wide
      actions={
        <Button variant="default" loading={health.isFetching} onClick={() => void health.refetch()}>
          {t('Check again')}
        </Button>
      }
    >
      <Loaded query={health} skeleton={<Skeleton h={420} />}>
        {(report) => (
          <Report report={{ ...report, components: report.components.map(translate) }} />
        )}
      </Loaded>
    </Page>
  )
}

function translate(check: HealthCheck): HealthCheck {
  const { name, detail } = check
  return {
    ...check,
    name: translateSentence('checks', name),
    detail: translateSentence('checks', detail),
  }
}

function Report({ report }: { report: HealthReport }) {
  const { components, checked_at } = report
  const faults = components.filter(({ state }) => state === 'wrong')
  return (
    <>
      <Text role="status" size="sm" mb="md">
        {faults.length === 0
          ? t('Everything that is set up works.')
          : t('{0} failed.', plural(faults.length, 'check'))}{' '}
        <Text span c="dimmed" inherit title={formatExactTime(checked_at)}>
          {t('Checked {0}.', formatAge(checked_at))}
        </Text>
      </Text>
      <section aria-label={t('Checks')} className={money.part}>
        <CheckTable checks={components} />
      </section>
      <div className={layout.facts}>
        <Service report={report} />
        <Outages outages={report.outages} />
      </div>
    </>
  )
}

const STATES: Record<HealthCheck['state'], { label: string; color: string }> = {
  ok: { label: t('Works'), color: 'pine' },
  sandbox: { label: t('Sandbox'), color: 'brass' },
  off: { label: t('Off'), color: 'gray' },
  wrong: { label: t('Failed'), color: 'red' },
}

function StateBadge({ state }: Pick<HealthCheck, 'state'>) {
  return <Badge color={STATES[state].color}>{STATES[state].label}</Badge>
}

/** Checks may be listed several times under one name, such as one for each product. */
function CheckTable({ checks }: { checks: readonly HealthCheck[] }) {
  if (checks.length === 0)
    return (
      <Notice icon={IconHeartbeat} title={t('No checks')}>
        {t('This service has nothing to check.')}
      </Notice>
    )
  return (
    <DataTable
      label={t('All checks')}
      rows={checks}
      getKey={({ name, detail }) => `${name} ${detail}`}
      columns={COLUMNS}
    />
  )
}

const COLUMNS: Column<HealthCheck>[] = [
  {
    head: t('Part'),
    cell: (check) => (
      <>
        <Group justify="space-between" gap="xs">
          <CheckLink check={check} />
          <Box hiddenFrom="sm">
            <StateBadge state={check.state} />
          </Box>
        </Group>
        <Text size="sm" c="dimmed" hiddenFrom="sm" style={{ overflowWrap: 'anywhere' }}>
          {check.detail}
        </Text>
      </>
    ),
  },
  { head: t('State'), visibleFrom: 'sm', cell: StateBadge },
  { head: t('Details'), visibleFrom: 'sm', breaks: 'anywhere', cell: ({ detail }) => detail },
]

/** The page where a part is set up, or where its rows are. */
const PAGES = {
  billing: '/run/setup',
  mail: '/run/setup',
  models: '/run/models',
  products: '/shop/products',
} as const

function CheckLink({ check: { area, name } }: { check: HealthCheck }) {
  if (area === 'jobs')
    return (
      <Link to="/run/activity" search={{ view: 'jobs' }} className={classes.open}>
        {name}
      </Link>
    )
  if (!Object.hasOwn(PAGES, area)) return name
  return (
    <Link to={PAGES[area as keyof typeof PAGES]} className={classes.open}>
      {name}
    </Link>
  )
}

const PARTS: Record<ServicePart, string> = {
  api: t('App and API'),
  storefront: t('Website and shop'),
  worker: t('Background jobs'),
}

/** The public status page shows those of the last 24 hours. */
function Outages({ outages }: Pick<HealthReport, 'outages'>) {
  return (
    <Panel title={t('Outages, 30 days')}>
      {outages.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('None longer than two minutes.')}
        </Text>
      ) : (
        <dl>
          {outages.map(({ parts, from, until }) => (
            <Fact key={`${from} ${parts}`} label={parts.map((part) => PARTS[part]).join(', ')}>
              {until === null
                ? t('Since {0}', formatExactTime(from))
                : t(
                    '{0} to {1}, {2}',
                    formatExactTime(from),
                    formatExactTime(until),
                    formatMinutes(from, until),
                  )}
            </Fact>
          ))}
        </dl>
      )}
    </Panel>
  )
}

const formatMinutes = (from: string, until: string) =>
  plural(Math.round((Date.parse(until) - Date.parse(from)) / 60_000), 'minute')

function Service({ report }: { report: HealthReport }) {
  const { version, node_version, engine, free_bytes, last_event_at } = report
  return (
    <Panel title={t('Service')}>
      <dl>
        <Fact label={t('Version')}>{version}</Fact>
        <Fact label={t('Node.js')}>{node_version}</Fact>
        <Fact label={t('Database')}>{engine === 'sqlite' ? t('SQLite') : t('PostgreSQL')}</Fact>
        <Fact label={t('Free disk')}>
          {free_bytes === null ? t('Unknown') : formatBytes(free_bytes)}
        </Fact>
        <Fact label={t('Last payment event')}>
          {last_event_at === null ? t('None yet') : formatAge(last_event_at)}
        </Fact>
        <Fact label={t('Backups')}>
          <span>
            {rich('Made by {0}, outside of the service', <code>npm run cli -- backup</code>)}
          </span>
        </Fact>
      </dl>
    </Panel>
  )
}
