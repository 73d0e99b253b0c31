import { IconLock } from '@tabler/icons-react'
import { Outlet } from '@tanstack/react-router'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { useUser } from '../session/user.ts'

/** The operator's pages, for superusers. */
export function RunLayout() {
  if (useUser().is_superuser) return <Outlet />
  return (
    <Page title="Run">
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
