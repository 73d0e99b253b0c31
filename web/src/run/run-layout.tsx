import { IconLock } from '@tabler/icons-react'
import { Outlet } from '@tanstack/react-router'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'

/** The operator's pages, for superusers. */
export function RunLayout() {
  if (useUser().is_superuser) return <Outlet />
  return (
    <Page title={t('Run')}>
      <Notice
        icon={IconLock}
        title={t('For superusers only')}
        action={<LinkButton to="/dashboard">{t('Go to dashboard')}</LinkButton>}
      >
        {t('Your account does not have access to this page.')}
      </Notice>
    </Page>
  )
}
