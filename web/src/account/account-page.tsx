import { Stack, Tabs } from '@mantine/core'
import { IconDatabase, IconDevices, IconShieldLock, IconUser } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { Activity } from './activity.tsx'
import { DataExport } from './data-export.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { EmailForm } from './email-form.tsx'
import { LinkedSignIns, LinkOutcome } from './linked-sign-ins.tsx'
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
