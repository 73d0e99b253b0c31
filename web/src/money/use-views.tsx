/** The calls and documents of all users: the rows behind the metrics of use. */
import { Badge, Group, Text } from '@mantine/core'
import { IconActivity, IconInbox } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AdminCall, AdminDocument } from '../api/types.ts'
import { OutcomeBadge } from '../calls/outcome-badge.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { EndlessList } from '../components/endless-list.tsx'
import { NativeFilter } from '../components/filters.tsx'
import {
  formatBytes,
  formatCallCost,
  formatCount,
  formatExactTime,
  formatTime,
} from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { readSpan } from '../usage/days.ts'
import { formatGroupName } from '../usage/group-name.ts'
import { allCallsQuery, allDocumentsQuery } from './money-query.ts'
import { Customer } from './movement-table.tsx'
import { PeriodChoice } from './period-choice.tsx'

const route = getRouteApi('/app/run/run/money')

export function CallsView() {
  const { days = 30, outcome } = route.useSearch()
  const calls = useInfiniteQuery(allCallsQuery(readSpan(days), outcome))
  return (
    <section aria-label={t('All calls')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeFilter
          name="outcome"
          aria-label={t('Status')}
          all={t('All calls')}
          data={[
            { value: 'failed', label: t('Failed calls') },
            { value: 'cancelled', label: t('Cancelled calls') },
            { value: 'ok', label: t('Answered calls') },
          ]}
        />
      </Group>
      <EndlessList
        query={calls}
        rows={(page) => page.calls}
        what="call"
        none={
          <Notice icon={IconActivity} title={t('No calls in this period')}>
            {t('Choose a longer period, or all calls.')}
          </Notice>
        }
      >
        {(shown) => (
          <DataTable
            label={t('Calls')}
            rows={shown}
            getKey={({ id }) => id}
            columns={CALL_COLUMNS}
          />
        )}
      </EndlessList>
    </section>
  )
}

const nameModel = ({ model }: AdminCall) => formatGroupName('model', model, new Map())

const CALL_COLUMNS: Column<AdminCall>[] = [
  {
    head: t('Customer'),
    cell: (call) => (
      <>
        <Customer {...call} />
        <Group gap="2px 8px" mt={2} hiddenFrom="md">
          <Text size="sm">{nameModel(call)}</Text>
          <Text c="dimmed" size="sm">
            {formatExactTime(call.at)}
          </Text>
          <Text component="div" size="sm" hiddenFrom="sm">
            <Outcome call={call} />
          </Text>
        </Group>
      </>
    ),
  },
  {
    head: t('Model'),
    visibleFrom: 'md',
    breaks: 'anywhere',
    cell: (call) => (
      <>
        {nameModel(call)}
        <Text c="dimmed" size="sm">
          {call.route}
        </Text>
      </>
    ),
  },
  { head: t('Status'), visibleFrom: 'sm', cell: (call) => <Outcome call={call} /> },
  {
    head: t('Request ID'),
    visibleFrom: 'lg',
    breaks: 'anywhere',
    cell: ({ request_id }) => (
      <Text className="mono" size="sm">
        {request_id ?? '–'}
      </Text>
    ),
  },
  {
    head: t('Time'),
    visibleFrom: 'md',
    breaks: 'nowhere',
    cell: ({ at }) => formatExactTime(at),
  },
  {
    head: t('Cost'),
    ta: 'right',
    breaks: 'nowhere',
    cell: ({ cost_usd }) => formatCallCost(cost_usd),
  },
]

/** The outcome, and for a failed call the error with its documentation. */
function Outcome({ call }: { call: AdminCall }) {
  return (
    <>
      <OutcomeBadge call={call} />
      {call.error_code && (
        <div>
          <TextLink to="/errors" hash={call.error_code} size="sm">
            {call.error_code}
          </TextLink>
        </div>
      )}
    </>
  )
}

/** Names and texts of documents are the customer’s; the operator sees how many and how large. */
export function DocumentsView() {
  const { days = 30 } = route.useSearch()
  const documents = useInfiniteQuery(allDocumentsQuery(readSpan(days)))
  return (
    <section aria-label={t('Documents added')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <Text c="dimmed" size="sm">
          {t('Names and texts belong to the customers and are not shown.')}
        </Text>
      </Group>
      <EndlessList
        query={documents}
        rows={(page) => page.documents}
        what="document"
        none={
          <Notice icon={IconInbox} title={t('No documents in this period')}>
            {t('Choose a longer period.')}
          </Notice>
        }
      >
        {(shown) => (
          <DataTable
            label={t('Documents')}
            rows={shown}
            getKey={({ user_id, id }) => `${user_id} ${id}`}
            columns={DOCUMENT_COLUMNS}
          />
        )}
      </EndlessList>
    </section>
  )
}

const DOCUMENT_COLUMNS: Column<AdminDocument>[] = [
  {
    head: t('Customer'),
    cell: (document) => (
      <>
        <Customer {...document} />
        <Text c="dimmed" size="sm" hiddenFrom="sm">
          {formatTime(document.at)}
        </Text>
      </>
    ),
  },
  { head: t('Added'), visibleFrom: 'sm', breaks: 'nowhere', cell: ({ at }) => formatTime(at) },
  {
    head: t('Type'),
    visibleFrom: 'md',
    cell: ({ file_bytes }) => (
      <Badge color="gray">
        {file_bytes === null ? t('Text') : t('File, {0}', formatBytes(file_bytes))}
      </Badge>
    ),
  },
  {
    head: t('Passages'),
    visibleFrom: 'md',
    ta: 'right',
    cell: ({ chunks }) => formatCount(chunks),
  },
  { head: t('Characters'), ta: 'right', cell: ({ characters }) => formatCount(characters) },
]
