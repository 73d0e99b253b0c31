import {
  Badge,
  Button,
  Group,
  Skeleton,
  Table,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch, IconUserSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { AdminUser } from '../api/types.ts'
import { formatAge, formatDay, formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { StatusBadge, TierBadge } from '../components/plan-badge.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { Pages, usePage } from './pages.tsx'
import { UserDrawer } from './user-drawer.tsx'

const route = getRouteApi('/app/admin')

/** Users, newest first. The address holds the search. */
export function UserTable() {
  const page = usePage()
  const { user: searchText } = route.useSearch()
  const navigate = route.useNavigate()
  const setSearch = useDebouncedCallback(
    (value: string) =>
      void navigate({
        search: (search) => ({ ...search, page: undefined, user: value || undefined }),
        replace: true,
        resetScroll: false,
      }),
    250,
  )
  const query = { page, limit: 20, ...(searchText && { find: searchText }) }
  const users = useQuery({
    queryKey: ['admin', 'users', query],
    queryFn: ({ signal }) => api.get('/api/admin/users', { query: query, signal }),
    placeholderData: (previous) => previous,
  })
  const [openId, setOpenId] = useState<string | null>(null)
  const open = users.data?.users.find(({ id }) => id === openId)

  return (
    <section>
      <TextInput
        type="search"
        label="Search"
        description="Any part of an email address or name, or a user ID"
        leftSection={<IconSearch size={18} aria-hidden />}
        maxLength={254}
        mb="md"
        defaultValue={searchText ?? ''}
        onChange={({ currentTarget: { value } }) => setSearch(value)}
      />
      <Loaded query={users} skeleton={<Skeleton h={320} />}>
        {(data) =>
          data.users.length === 0 ? (
            <Notice icon={IconUserSearch} title="No users found">
              No user matches this email address, name or ID.
            </Notice>
          ) : (
            <>
              <ScrollX label="Users">
                <Table verticalSpacing="xs">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>User</Table.Th>
                      <Table.Th visibleFrom="md">Plan</Table.Th>
                      <Table.Th visibleFrom="md">Status</Table.Th>
                      <Table.Th visibleFrom="md">Joined</Table.Th>
                      <Table.Th visibleFrom="md">Last sign-in</Table.Th>
                      <Table.Th>
                        <VisuallyHidden>Actions</VisuallyHidden>
                      </Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.users.map((user) => (
                      <Table.Tr key={user.id}>
                        <Table.Td>
                          <Text style={{ overflowWrap: 'anywhere' }}>{user.email}</Text>
                          <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
                            {user.full_name ?? 'No name'}
                          </Text>
                          <Group gap={6} mt={4} hiddenFrom="md">
                            <PlanBadges user={user} />
                            <StateBadges user={user} />
                          </Group>
                        </Table.Td>
                        <Table.Td visibleFrom="md">
                          <PlanBadges user={user} />
                        </Table.Td>
                        <Table.Td visibleFrom="md">
                          <StateBadges user={user} />
                        </Table.Td>
                        <Table.Td visibleFrom="md">{formatDay(user.created_at)}</Table.Td>
                        <Table.Td
                          visibleFrom="md"
                          title={user.last_login_at ? formatTime(user.last_login_at) : undefined}
                        >
                          {user.last_login_at ? formatAge(user.last_login_at) : 'Never'}
                        </Table.Td>
                        <Table.Td ta="right">
                          <Button
                            variant="default"
                            onClick={() => setOpenId(user.id)}
                            aria-label={`Change ${user.email}`}
                          >
                            Change
                          </Button>
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </ScrollX>
              <Pages paged={data} what="user" />
            </>
          )
        }
      </Loaded>
      {open && <UserDrawer user={open} onClose={() => setOpenId(null)} />}
    </section>
  )
}

function PlanBadges({ user }: { user: AdminUser }) {
  return (
    <Group gap={6}>
      <TierBadge tier={user.subscription_tier} />
      {user.subscription_status !== 'free' && <StatusBadge status={user.subscription_status} />}
    </Group>
  )
}

function StateBadges({ user }: { user: AdminUser }) {
  return (
    <Group gap={6}>
      <Badge color={user.is_active ? 'pine' : 'red'}>{user.is_active ? 'On' : 'Off'}</Badge>
      {!user.is_verified && <Badge color="gray">Not verified</Badge>}
      {user.is_superuser && <Badge color="brass">Superuser</Badge>}
    </Group>
  )
}
