import { Card, Group, NativeSelect, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { addressesOf, WORDS, wordsOf } from '../account/activity.tsx'
import { api } from '../api/client.ts'
import type { AuditEntry } from '../api/types.ts'
import { moment } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Pages, usePage } from './pages.tsx'

const route = getRouteApi('/app/admin')

/** Of others' rooms, and failed sign-ins, whose words depend on how many there were. */
const ACTIONS = ['sign-in.failed', 'api-key.made', 'api-key.changed', 'api-key.rotated', 'api-key.revoked', 'invited']
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** What happened to all accounts; its address names the user and the action. */
export function AuditLog() {
  const page = usePage()
  const { user, action } = route.useSearch()
  const navigate = route.useNavigate()
  const isUser = user !== undefined && UUID.test(user)
  const asked = { page, limit: 20, ...(isUser && { user_id: user }), ...(action && { action }) }
  const audit = useQuery({
    queryKey: ['admin', 'audit', asked],
    queryFn: ({ signal }) => api.get('/api/admin/audit', { query: asked, signal }),
    placeholderData: (previous) => previous,
  })
  const show = (more: { user?: string | undefined; action?: string | undefined }) =>
    void navigate({ search: (search) => ({ ...search, page: undefined, ...more }), replace: true, resetScroll: false })

  return (
    <Card>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeSelect
          label="What"
          description="Of all kinds, or of one"
          value={action ?? ''}
          onChange={({ currentTarget }) => show({ action: currentTarget.value || undefined })}
          data={[
            { value: '', label: 'Everything' },
            ...ACTIONS.map((value) => ({ value, label: value })),
            ...Object.entries(WORDS).map(([value, label]) => ({ value, label })),
          ]}
        />
        <TextInput
          label="Account"
          description="By its id, as Users tells it"
          value={user ?? ''}
          error={user && !isUser ? 'Should be an id' : null}
          onChange={({ currentTarget }) => show({ user: currentTarget.value.trim() || undefined })}
        />
      </Group>
      <Loaded query={audit} skeleton={<Skeleton h={240} />}>
        {(data) =>
          data.entries.length === 0 ? (
            <Notice icon={IconListSearch} title="Nothing of this kind">
              Sign-ins, refused ones, and changes of what opens an account are kept here, each bound to the one before.
            </Notice>
          ) : (
            <>
              <div className="scroll-x">
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
              </div>
              <Pages paged={data} what="entry" several="entries" />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

function Row({ entry }: { entry: AuditEntry }) {
  const { at, actor_id, subject, data } = entry
  const where = addressesOf(entry)
  const reason = typeof data?.reason === 'string' ? [data.reason] : []
  return (
    <Table.Tr>
      <Table.Td>{moment(at)}</Table.Td>
      <Table.Td>
        {wordsOf(entry)}
        <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {[...reason, ...where].join(', ')}
        </Text>
      </Table.Td>
      <Table.Td className="mono">{actor_id ?? '–'}</Table.Td>
      <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
        {subject ?? '–'}
      </Table.Td>
    </Table.Tr>
  )
}
