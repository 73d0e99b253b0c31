import { IconMapQuestion } from '@tabler/icons-react'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { useTitle } from '../components/title.ts'
import { t } from '../language/text.ts'
import { useHasSession } from '../session/use-session.ts'
import { PublicLayout } from './public-layout.tsx'

export function NotFound() {
  useTitle(t('Page not found'))
  const signedIn = useHasSession()
  return (
    <PublicLayout>
      <Notice
        icon={IconMapQuestion}
        order={1}
        title={t('Page not found')}
        action={
          <LinkButton to={signedIn ? '/dashboard' : '/'} variant="light">
            {signedIn ? t('Back to dashboard') : t('Back to home')}
          </LinkButton>
        }
      >
        {t('There is no page at this address. Check the link.')}
      </Notice>
    </PublicLayout>
  )
}
