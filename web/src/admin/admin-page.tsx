import { Box, Skeleton, Tabs } from '@mantine/core'
import { IconListSearch, IconLock, IconMailPlus, IconProgressBolt } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { formatCount } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { useUser } from '../session/user.ts'
import { AuditLog } from './audit-log.tsx'
import { Invitations } from './invitations.tsx'
import { Jobs } from './jobs.tsx'

const route = getRouteApi('/app/admin')
/** The jobs tab is the default, so the address leaves it out. */
const TABS = ['invitations', 'audit'] as const

export function AdminPage() {
  const { is_superuser: superuser } = useUser()
  return superuser ? <AdminPanel /> : <Forbidden />
}

function Forbidden() {
  return (
    <Page title="Admin">
      <Notice
        icon={IconLock}
        title="For superusers only"
        action={<LinkButton to="/dashboard">Go to dashboard</LinkButton>}
      >
        Your account does not have access to this page.
      </Notice>
    </Page>
  )
}

function AdminPanel() {
  const { tab = 'jobs' } = route.useSearch()
  const navigate = useNavigate()
  const stats = useQuery({
    queryKey: ['admin', 'stats'],
    queryFn: ({ signal }) => api.get('/api/admin/stats', { signal }),
  })

  // The user stopped being a superuser while the app was open.
  if (stats.error instanceof ApiProblem && stats.error.code === 'not_superuser')
    return <Forbidden />
  return (
    <Page title="Admin" lead="Jobs and invitations." wide>
      <Box mb="md">
        <Loaded query={stats} skeleton={<StatsSkeleton />}>
          {(data) => (
            <StatGrid>
              <Stat label="Users">{formatCount(data.total_users)}</Stat>
              <Stat label="Active subscriptions">{formatCount(data.active_subscriptions)}</Stat>
              <Stat label="New in 7 days">{formatCount(data.new_users_7d)}</Stat>
              <Stat label="Verified">{formatCount(data.verified_users)}</Stat>
            </StatGrid>
          )}
        </Loaded>
      </Box>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({
            to: '/admin',
            search: { tab: TABS.find((known) => known === next) },
            resetScroll: false,
          })
        }
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="jobs" leftSection={<IconProgressBolt size={18} aria-hidden />}>
            Jobs
          </Tabs.Tab>
          <Tabs.Tab value="invitations" leftSection={<IconMailPlus size={18} aria-hidden />}>
            Invitations
          </Tabs.Tab>
          <Tabs.Tab value="audit" leftSection={<IconListSearch size={18} aria-hidden />}>
            Audit
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="jobs">
          <Jobs />
        </Tabs.Panel>
        <Tabs.Panel value="invitations">
          <Invitations />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <AuditLog />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function StatsSkeleton() {
  return (
    <StatGrid>
      {['users', 'subscriptions', 'new', 'verified'].map((figure) => (
        <Skeleton key={figure} h={104} />
      ))}
    </StatGrid>
  )
}
