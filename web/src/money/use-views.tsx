/** The calls and documents of all users: the rows behind the metrics of use. */
import { Badge, Group, NativeSelect, Skeleton, Table, Text } from '@mantine/core'
import { IconActivity, IconInbox } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AdminCall, AdminDocument, UsageOutcome } from '../api/types.ts'
import { OutcomeBadge } from '../calls/outcome-badge.tsx'
import {
  formatBytes,
  formatCallCost,
  formatCount,
  formatExactTime,
  formatTime,
  plural,
} from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { MoreRows } from '../shop/more-rows.tsx'
import tableClasses from '../shop/table.module.css'
import { formatGroupName } from '../usage/group-name.ts'
import { allCallsQuery, allDocumentsQuery, readSpan } from './money-query.ts'
import { CustomerLink } from './movement-table.tsx'
import { PeriodChoice } from './period-choice.tsx'

const route = getRouteApi('/app/run/run/money')

export function CallsView() {
  const { days = 30, outcome } = route.useSearch()
  const navigate = route.useNavigate()
  const calls = useInfiniteQuery({
    ...allCallsQuery(readSpan(days), outcome),
    placeholderData: (previous) => previous,
  })
  return (
    <section aria-label={t('All calls')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeSelect
          aria-label={t('Status')}
          value={outcome ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (search) => ({
                ...search,
                outcome: value === '' ? undefined : (value as UsageOutcome),
              }),
              replace: true,
            })
          }
          data={[
            { value: '', label: t('All calls') },
            { value: 'failed', label: t('Failed calls') },
            { value: 'cancelled', label: t('Cancelled calls') },
            { value: 'ok', label: t('Answered calls') },
          ]}
        />
      </Group>
      <Loaded query={calls} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.calls)
          return shown.length === 0 && !calls.hasNextPage ? (
            <Notice icon={IconActivity} title={t('No calls in this period')}>
              {t('Choose a longer period, or all calls.')}
            </Notice>
          ) : (
            <>
              <CallTable calls={shown} />
              <MoreRows loaded={plural(shown.length, 'call')} query={calls} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function CallTable({ calls }: { calls: AdminCall[] }) {
  return (
    <ScrollX label={t('Calls')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Model')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Status')}</Table.Th>
            <Table.Th visibleFrom="lg">{t('Request ID')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Time')}</Table.Th>
            <Table.Th ta="right">{t('Cost')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map((call) => (
            <CallRow key={call.id} call={call} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function CallRow({ call }: { call: AdminCall }) {
  const model = formatGroupName('model', call.model, new Map())
  return (
    <Table.Tr>
      <Table.Td>
        <Customer row={call} />
        <Group gap="2px 8px" mt={2} hiddenFrom="md">
          <Text size="sm">{model}</Text>
          <Text c="dimmed" size="sm">
            {formatExactTime(call.at)}
          </Text>
          <Text component="div" size="sm" hiddenFrom="sm">
            <Outcome call={call} />
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md" style={{ overflowWrap: 'anywhere' }}>
        {model}
        <Text c="dimmed" size="sm">
          {call.route}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Outcome call={call} />
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text className="mono" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {call.request_id ?? '–'}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md" className={tableClasses.whole}>
        {formatExactTime(call.at)}
      </Table.Td>
      <Table.Td ta="right" className={tableClasses.whole}>
        {formatCallCost(call.cost_usd)}
      </Table.Td>
    </Table.Tr>
  )
}

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
  const documents = useInfiniteQuery({
    ...allDocumentsQuery(readSpan(days)),
    placeholderData: (previous) => previous,
  })
  return (
    <section aria-label={t('Documents added')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <Text c="dimmed" size="sm">
          {t('Names and texts belong to the customers and are not shown.')}
        </Text>
      </Group>
      <Loaded query={documents} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.documents)
          return shown.length === 0 ? (
            <Notice icon={IconInbox} title={t('No documents in this period')}>
              {t('Choose a longer period.')}
            </Notice>
          ) : (
            <>
              <DocumentTable documents={shown} />
              <MoreRows loaded={plural(shown.length, 'document')} query={documents} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function DocumentTable({ documents }: { documents: AdminDocument[] }) {
  return (
    <ScrollX label={t('Documents')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Added')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Type')}</Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              {t('Passages')}
            </Table.Th>
            <Table.Th ta="right">{t('Characters')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {documents.map((document) => (
            <Table.Tr key={`${document.user_id} ${document.id}`}>
              <Table.Td>
                <Customer row={document} />
                <Text c="dimmed" size="sm" hiddenFrom="sm">
                  {formatTime(document.at)}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm" className={tableClasses.whole}>
                {formatTime(document.at)}
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Badge color="gray">
                  {document.file_bytes === null
                    ? t('Text')
                    : t('File, {0}', formatBytes(document.file_bytes))}
                </Badge>
              </Table.Td>
              <Table.Td visibleFrom="md" ta="right">
                {formatCount(document.chunks)}
              </Table.Td>
              <Table.Td ta="right">{formatCount(document.characters)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function Customer({ row: { email, user_id } }: { row: { email: string | null; user_id: string } }) {
  return <CustomerLink id={email === null ? null : user_id} name={email ?? t('Deleted account')} />
}
