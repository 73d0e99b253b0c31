import { Badge, Group, Text } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { endlessQuery } from '../api/endless-query.ts'
import type { LoggedEmail } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { EndlessList } from '../components/endless-list.tsx'
import { NativeFilter } from '../components/filters.tsx'
import { formatTime } from '../components/format.ts'
import { Notice } from '../components/notice.tsx'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import money from '../money/money.module.css'
import { CustomerFilter } from './customer-filter.tsx'
import { EMAIL_STATES } from './email-states.ts'

const route = getRouteApi('/app/run/run/activity')

const PAGE = 50

/** Every email, newest first. The address holds the filters. */
export function EmailLog() {
  const { user, state } = route.useSearch()
  const emails = useInfiniteQuery(
    endlessQuery(['admin', 'emails', user, state], (cursor, signal) => {
      const query = { user_id: user, state, limit: PAGE, cursor }
      return api.get('/api/admin/emails', { query, signal })
    }),
  )
  return (
    <section aria-labelledby="all-emails" className={money.part}>
      <div className={money.head}>
        <h2 id="all-emails">{t('All emails')}</h2>
      </div>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeFilter
          name="state"
          label={t('State')}
          all={t('All states')}
          data={Object.entries(EMAIL_STATES).map(([value, { label }]) => ({ value, label }))}
        />
        <CustomerFilter value={user} />
      </Group>
      <EndlessList
        query={emails}
        rows={(page) => page.emails}
        what="email"
        none={
          <Notice icon={IconMail} title={t('No emails found')} order={3}>
            {t('Every email to a customer or to you appears here, without its text.')}
          </Notice>
        }
      >
        {(shown) => (
          <DataTable label={t('Emails')} rows={shown} getKey={({ id }) => id} columns={COLUMNS} />
        )}
      </EndlessList>
    </section>
  )
}

const COLUMNS: Column<LoggedEmail>[] = [
  {
    head: t('Email'),
    // The words of a mail server would otherwise take the whole width.
    w: '45%',
    breaks: 'anywhere',
    cell: (email) => (
      <>
        {email.subject}
        <Text c="dimmed" size="sm">
          <Address email={email} />
        </Text>
        <Text c="dimmed" size="sm" hiddenFrom="sm">
          {formatTime(email.created_at)}
        </Text>
      </>
    ),
  },
  {
    head: t('When'),
    visibleFrom: 'sm',
    breaks: 'nowhere',
    cell: ({ created_at }) => formatTime(created_at),
  },
  {
    head: t('State'),
    breaks: 'anywhere',
    cell: ({ state, error }) => (
      <>
        <Badge color={EMAIL_STATES[state].color}>{EMAIL_STATES[state].label}</Badge>
        {error !== null && (
          <Text size="sm" mt={4}>
            {error}
          </Text>
        )}
      </>
    ),
  },
]

function Address({ email: { user_id, address } }: { email: LoggedEmail }) {
  if (user_id === null) return address
  return (
    <Link to="/customers/$id" params={{ id: user_id }} className={classes.open}>
      {address}
    </Link>
  )
}
