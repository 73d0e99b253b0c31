import { Badge, NativeSelect, Skeleton, Table, Text } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type { ReceivedEvent } from '../api/types.ts'
import { formatTime, plural } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { MoreRows } from '../shop/more-rows.tsx'

const route = getRouteApi('/app/run/run/activity')

const PAGE = 50

/** Events that the payment processor sent, newest first. */
export function EventsView() {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const events = useInfiniteQuery({
    queryKey: ['admin', 'events', open],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/events', { query: { open, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (previous) => previous,
    staleTime: 0,
  })
  return (
    <section aria-label={t('Payment events')}>
      <NativeSelect
        aria-label={t('State')}
        w={{ base: '100%', xs: 200 }}
        mb="md"
        value={open ? 'open' : ''}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            search: (search) => ({ ...search, open: value === 'open' || undefined }),
            replace: true,
          })
        }
        data={[
          { value: '', label: t('All events') },
          { value: 'open', label: t('Not handled yet') },
        ]}
      />
      <Loaded query={events} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.events)
          return shown.length === 0 ? (
            <Notice icon={IconWebhook} title={open ? t('No open events') : t('No events received')}>
              {open
                ? t('Every received event is handled.')
                : t('The payment processor sends an event for each payment, refund and dispute.')}
            </Notice>
          ) : (
            <>
              <EventTable events={shown} />
              <MoreRows loaded={plural(shown.length, 'event')} query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

const SOURCES: Readonly<Record<string, string>> = {
  'processor.billing': t('Subscriptions'),
  'processor.money': t('Refunds and disputes'),
  'processor.storefront': t('Shop'),
}

function EventTable({ events }: { events: readonly ReceivedEvent[] }) {
  return (
    <ScrollX label={t('Received events')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Event')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Received')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events.map((event) => (
            <Table.Tr key={`${event.source} ${event.id}`}>
              <Table.Td>
                {SOURCES[event.source] ?? event.source}
                <Text c="dimmed" size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
                  {event.id}
                </Text>
                <Text c="dimmed" size="sm" hiddenFrom="sm">
                  {formatTime(event.received_at)}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">{formatTime(event.received_at)}</Table.Td>
              <Table.Td>
                <EventState event={event} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function EventState({ event: { handled_at, job } }: { event: ReceivedEvent }) {
  if (handled_at !== null) return <Badge color="pine">{t('Handled')}</Badge>
  return (
    <>
      <Badge color={job?.is_failed === false ? 'brass' : 'red'}>
        {job?.is_failed === false ? t('Waiting') : t('Failed')}
      </Badge>
      {job !== null && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {job.last_error !== null && `${job.last_error} `}
          <TextLink to="/run/activity" search={{ view: 'jobs' }} size="sm">
            {t('Jobs')}
          </TextLink>
        </Text>
      )}
    </>
  )
}
