import { Group, Skeleton, Text } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { describeEvent, EVENT_LABELS, readAddresses, readReason } from '../account/audit-words.ts'
import { readQuery } from '../api/queries.ts'
import type { AdminAuditEntry } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { NativeFilter } from '../components/filters.tsx'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Pages, usePage } from '../components/pages.tsx'
import { t } from '../language/text.ts'
import { CustomerFilter } from './customer-filter.tsx'
import { Person, Subject } from './subject.tsx'

const route = getRouteApi('/app/run/run/activity')

/** Audit log of all accounts. The address holds the filters. */
export function AuditView() {
  const page = usePage()
  const { user, action } = route.useSearch()
  const query = { page, limit: 20, user_id: user, action }
  const audit = useQuery({
    ...readQuery(['admin', 'audit', query], '/api/admin/audit', { query }),
    placeholderData: (previous) => previous,
  })

  return (
    <section aria-label={t('Entries')}>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeFilter
          name="action"
          label={t('Event')}
          all={t('All events')}
          data={Object.entries(EVENT_LABELS).map(([value, label]) => ({ value, label }))}
        />
        <CustomerFilter value={user} />
      </Group>
      <Loaded query={audit} skeleton={<Skeleton h={240} />}>
        {(data) =>
          data.entries.length === 0 ? (
            <Notice icon={IconListSearch} title={t('No events found')}>
              {t('Sign-ins, failed sign-ins and account changes appear here.')}
            </Notice>
          ) : (
            <>
              <DataTable
                label={t('Audit log')}
                verticalSpacing="xs"
                highlightOnHover={false}
                rows={data.entries}
                getKey={({ id }) => id}
                columns={COLUMNS}
              />
              <Pages paged={data} what={t('entry')} several={t('entries')} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

const COLUMNS: Column<AdminAuditEntry>[] = [
  { head: t('When'), breaks: 'nowhere', cell: ({ at }) => formatTime(at) },
  { head: t('What'), cell: (entry) => <Event entry={entry} /> },
  { head: t('By'), visibleFrom: 'md', cell: (entry) => <Actor entry={entry} /> },
  { head: t('About'), visibleFrom: 'md', cell: (entry) => <Subject entry={entry} /> },
]

function Event({ entry }: { entry: AdminAuditEntry }) {
  const details = [readReason(entry), entry.data?.email, ...readAddresses(entry)]
  return (
    <>
      {describeEvent(entry)}
      <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {details.filter((one) => typeof one === 'string').join(', ')}
      </Text>
      <Text size="sm" component="div" hiddenFrom="md">
        {entry.actor_id === null ? <Subject entry={entry} /> : <Actor entry={entry} />}
      </Text>
    </>
  )
}

function Actor({ entry: { actor_id, actor_email, actor_name } }: { entry: AdminAuditEntry }) {
  return <Person id={actor_id} email={actor_email} name={actor_name} />
}
