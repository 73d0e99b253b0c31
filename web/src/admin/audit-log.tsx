import { Group, NativeSelect, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { describeEvent, EVENT_LABELS, readAddresses } from '../account/audit-words.ts'
import { api } from '../api/client.ts'
import type { AdminAuditEntry } from '../api/types.ts'
import { formatTime } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Pages, usePage } from '../components/pages.tsx'
import { ScrollX } from '../components/scroll-x.tsx'

const route = getRouteApi('/app/admin')

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Audit log of all accounts. The address holds the filters. */
export function AuditLog() {
  const page = usePage()
  const { user, action } = route.useSearch()
  const navigate = route.useNavigate()
  const isUser = user !== undefined && UUID.test(user)
  const query = { page, limit: 20, ...(isUser && { user_id: user }), ...(action && { action }) }
  const audit = useQuery({
    queryKey: ['admin', 'audit', query],
    queryFn: ({ signal }) => api.get('/api/admin/audit', { query: query, signal }),
    placeholderData: (previous) => previous,
  })
  const show = (more: { user?: string | undefined; action?: string | undefined }) =>
    void navigate({
      search: (search) => ({ ...search, page: undefined, ...more }),
      replace: true,
      resetScroll: false,
    })

  return (
    <section>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeSelect
          label="Event"
          value={action ?? ''}
          onChange={({ currentTarget }) => show({ action: currentTarget.value || undefined })}
          data={[
            { value: '', label: 'All events' },
            ...Object.entries(EVENT_LABELS).map(([value, label]) => ({ value, label })),
          ]}
        />
        <TextInput
          label="User ID"
          value={user ?? ''}
          error={user && !isUser ? 'Enter a user ID' : null}
          onChange={({ currentTarget }) => show({ user: currentTarget.value.trim() || undefined })}
        />
      </Group>
      <Loaded query={audit} skeleton={<Skeleton h={240} />}>
        {(data) =>
          data.entries.length === 0 ? (
            <Notice icon={IconListSearch} title="No events found">
              Sign-ins, failed sign-ins and account changes appear here.
            </Notice>
          ) : (
            <>
              <ScrollX label="Audit log">
                <Table verticalSpacing="xs" miw={640}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>When</Table.Th>
                      <Table.Th>What</Table.Th>
                      <Table.Th>By</Table.Th>
                      <Table.Th>To</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.entries.map((entry) => (
                      <Row key={entry.id} entry={entry} />
                    ))}
                  </Table.Tbody>
                </Table>
              </ScrollX>
              <Pages paged={data} what="entry" several="entries" />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function Row({ entry }: { entry: AdminAuditEntry }) {
  const { at, actor_id, actor_email, subject, subject_email, data } = entry
  const where = readAddresses(entry)
  const reason = typeof data?.reason === 'string' ? [data.reason] : []
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(at)}</Table.Td>
      <Table.Td>
        {describeEvent(entry)}
        <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {[...reason, ...where].join(', ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Person id={actor_id} email={actor_email} />
      </Table.Td>
      <Table.Td>
        <Subject subject={subject} email={subject_email} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Links to the user. Without an id, the service itself or a deleted user acted. */
function Person({ id, email }: { id: string | null; email: string | null }) {
  if (id === null) return '–'
  return (
    <TextLink to="/customers/$id" params={{ id }} style={{ overflowWrap: 'anywhere' }}>
      {email ?? id}
    </TextLink>
  )
}

/** `subject` is `kind:id` or a word. */
function Subject({ subject, email }: { subject: string | null; email: string | null }) {
  const [kind = '', id] = subject?.split(/:(.*)/s) ?? []
  if (kind === 'user')
    return id === 'deleted' ? 'Deleted user' : <Person id={id ?? null} email={email} />
  if (id === undefined) return kind === '' ? '–' : kind
  return (
    <>
      {KINDS[kind] ?? kind}
      <Text c="dimmed" size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
    </>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  session: 'Session',
  'api-key': 'API key',
  passkey: 'Passkey',
  purchase: 'Purchase',
  job: 'Job',
  model: 'Model',
  vendor: 'Vendor',
}
