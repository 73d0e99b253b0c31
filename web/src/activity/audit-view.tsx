import { Group, NativeSelect, Skeleton, Table, Text } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { describeEvent, EVENT_LABELS, readAddresses, readReason } from '../account/audit-words.ts'
import { api } from '../api/client.ts'
import type { AdminAuditEntry } from '../api/types.ts'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Pages, usePage } from '../components/pages.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { CustomerFilter } from './customer-filter.tsx'
import { Person, Subject } from './subject.tsx'

const route = getRouteApi('/app/run/run/activity')

/** Audit log of all accounts. The address holds the filters. */
export function AuditView() {
  const page = usePage()
  const { user, action } = route.useSearch()
  const navigate = route.useNavigate()
  const query = { page, limit: 20, user_id: user, action }
  const audit = useQuery({
    queryKey: ['admin', 'audit', query],
    queryFn: ({ signal }) => api.get('/api/admin/audit', { query, signal }),
    placeholderData: (previous) => previous,
  })
  const show = (more: { user?: string | undefined; action?: string | undefined }) =>
    void navigate({
      search: (search) => ({ ...search, page: undefined, ...more }),
      replace: true,
      resetScroll: false,
    })

  return (
    <section aria-label={t('Entries')}>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeSelect
          label={t('Event')}
          value={action ?? ''}
          onChange={({ currentTarget }) => show({ action: currentTarget.value || undefined })}
          data={[
            { value: '', label: t('All events') },
            ...Object.entries(EVENT_LABELS).map(([value, label]) => ({ value, label })),
          ]}
        />
        <CustomerFilter value={user} onChange={(id) => show({ user: id })} />
      </Group>
      <Loaded query={audit} skeleton={<Skeleton h={240} />}>
        {(data) =>
          data.entries.length === 0 ? (
            <Notice icon={IconListSearch} title={t('No events found')}>
              {t('Sign-ins, failed sign-ins and account changes appear here.')}
            </Notice>
          ) : (
            <>
              <ScrollX label={t('Audit log')}>
                <Table verticalSpacing="xs">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t('When')}</Table.Th>
                      <Table.Th>{t('What')}</Table.Th>
                      <Table.Th visibleFrom="md">{t('By')}</Table.Th>
                      <Table.Th visibleFrom="md">{t('About')}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.entries.map((entry) => (
                      <Row key={entry.id} entry={entry} />
                    ))}
                  </Table.Tbody>
                </Table>
              </ScrollX>
              <Pages paged={data} what={t('entry')} several={t('entries')} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function Row({ entry }: { entry: AdminAuditEntry }) {
  const details = [readReason(entry), entry.data?.email, ...readAddresses(entry)]
  const person = <Person id={entry.actor_id} email={entry.actor_email} name={entry.actor_name} />
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(entry.at)}</Table.Td>
      <Table.Td>
        {describeEvent(entry)}
        <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {details.filter((one) => typeof one === 'string').join(', ')}
        </Text>
        <Text size="sm" component="div" hiddenFrom="md">
          {entry.actor_id === null ? <Subject entry={entry} /> : person}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">{person}</Table.Td>
      <Table.Td visibleFrom="md">
        <Subject entry={entry} />
      </Table.Td>
    </Table.Tr>
  )
}
