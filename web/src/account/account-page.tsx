import { Button, Group, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import {
  IconDatabase,
  IconDevices,
  IconDownload,
  IconShieldLock,
  IconUser,
} from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { request } from '../api/client.ts'
import { readQuery } from '../api/queries.ts'
import { ProblemText } from '../components/form-problem.tsx'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { saveFile } from '../components/save-file.ts'
import { t } from '../language/text.ts'
import { describeEvent, readAddresses } from './audit-words.ts'
import { DeleteAccount } from './delete-account.tsx'
import { EmailForm } from './email-form.tsx'
import { LinkedSignIns, LinkOutcome } from './linked-sign-ins.tsx'
import { Panel } from './panel.tsx'
import { Passkeys } from './passkeys.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

const route = getRouteApi('/app/account')

export function AccountPage() {
  const { tab = 'profile' } = route.useSearch()
  const navigate = useNavigate()
  return (
    <Page title={t('Account')}>
      <LinkOutcome />
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({
            to: '/account',
            search: {
              tab: next === 'security' || next === 'sessions' || next === 'data' ? next : undefined,
            },
            resetScroll: false,
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="profile" leftSection={<IconUser size={18} aria-hidden />}>
            {t('Profile')}
          </Tabs.Tab>
          <Tabs.Tab value="security" leftSection={<IconShieldLock size={18} aria-hidden />}>
            {t('Security')}
          </Tabs.Tab>
          <Tabs.Tab value="sessions" leftSection={<IconDevices size={18} aria-hidden />}>
            {t('Sessions')}
          </Tabs.Tab>
          <Tabs.Tab value="data" leftSection={<IconDatabase size={18} aria-hidden />}>
            {t('Your data')}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="profile">
          <Stack>
            <ProfileForm />
            <EmailForm />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="security">
          <Stack>
            <PasswordForm />
            <TwoFactor />
            <Passkeys />
            <LinkedSignIns />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <Stack>
            <Sessions />
            <Activity />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="data">
          <Stack>
            <DataExport />
            <DeleteAccount />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

const SHOWN = 20

/** The account's newest security events. */
function Activity() {
  const query = { limit: SHOWN }
  const audit = useQuery(readQuery(['audit'], '/api/users/me/audit', { query }))
  return (
    <Panel
      title={t('Recent activity')}
      lead={t('Sign-ins, failed sign-ins, and changes to your sign-in settings.')}
    >
      <Loaded query={audit} skeleton={<Skeleton h={160} />}>
        {({ entries }) => (
          <Stack gap="xs">
            {entries.map((entry) => (
              <div key={entry.id}>
                <Text>{describeEvent(entry)}</Text>
                <Text c="dimmed" size="sm">
                  {[formatTime(entry.at), ...readAddresses(entry)].join(', ')}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Panel>
  )
}

function DataExport() {
  const download = useMutation({ mutationFn: exportData })
  return (
    <Panel
      title={t('Export')}
      lead={t('Download your account as JSON, or all your data as a ZIP of JSON files.')}
    >
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending && !download.variables}
          onClick={() => download.mutate(false)}
        >
          {t('Account')}
        </Button>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending && download.variables}
          onClick={() => download.mutate(true)}
        >
          {t('Everything')}
        </Button>
        <ProblemText problem={download.error} />
      </Group>
    </Panel>
  )
}

async function exportData(full: boolean) {
  const response = await request('GET', '/api/users/me/export', {
    query: full ? { full: true } : {},
  })
  await saveFile(response, full ? 'account.zip' : 'account.json')
}
