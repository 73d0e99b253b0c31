import { Badge, Text } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { endlessQuery } from '../api/endless-query.ts'
import type { ReceivedEvent } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { EndlessList } from '../components/endless-list.tsx'
import { NativeFilter } from '../components/filters.tsx'
import { formatTime } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'

const route = getRouteApi('/app/run/run/activity')

const PAGE = 50

/** Events that the payment processor sent, newest first. */
export function EventsView() {
  const { open } = route.useSearch()
  const events = useInfiniteQuery(
    endlessQuery(['admin', 'events', open], (cursor, signal) =>
      api.get('/api/admin/events', { query: { open, limit: PAGE, cursor }, signal }),
    ),
  )
  return (
    <section aria-label={t('Payment events')}>
      <NativeFilter
        name="open"
        aria-label={t('State')}
        w={{ base: '100%', xs: 200 }}
        mb="md"
        all={t('All events')}
        data={[{ value: 'true', label: t('Not handled yet') }]}
      />
      <EndlessList
        query={events}
        rows={(page) => page.events}
        what="event"
        none={
          <Notice icon={IconWebhook} title={open ? t('No open events') : t('No events received')}>
            {open
              ? t('Every received event is handled.')
              : t('The payment processor sends an event for each payment, refund and dispute.')}
          </Notice>
        }
      >
        {(shown) => (
          <DataTable
            label={t('Received events')}
            rows={shown}
            getKey={({ source, id }) => `${source} ${id}`}
            columns={COLUMNS}
          />
        )}
      </EndlessList>
    </section>
  )
}

const SOURCES: Readonly<Record<string, string>> = {
  'processor.billing': t('Subscriptions'),
  'processor.money': t('Refunds and disputes'),
  'processor.storefront': t('Shop'),
}

const COLUMNS: Column<ReceivedEvent>[] = [
  {
    head: t('Event'),
    cell: ({ source, id, received_at }) => (
      <>
        {SOURCES[source] ?? source}
        <Text c="dimmed" size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
          {id}
        </Text>
        <Text c="dimmed" size="sm" hiddenFrom="sm">
          {formatTime(received_at)}
        </Text>
      </>
    ),
  },
  { head: t('Received'), visibleFrom: 'sm', cell: ({ received_at }) => formatTime(received_at) },
  { head: t('State'), cell: (event) => <EventState event={event} /> },
]

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
