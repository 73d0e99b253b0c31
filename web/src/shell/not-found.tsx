import { IconMapQuestion } from '@tabler/icons-react'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { useTitle } from '../components/title.ts'
import { useHasSession } from '../session/use-session.ts'
import { PublicLayout } from './public-layout.tsx'

export function NotFound() {
  useTitle('Page not found')
  const signedIn = useHasSession()
  return (
    <PublicLayout>
      <Notice
        icon={IconMapQuestion}
        order={1}
        title="Page not found"
        action={
          <LinkButton to={signedIn ? '/dashboard' : '/'} variant="light">
            {signedIn ? 'Back to dashboard' : 'Back to home'}
          </LinkButton>
        }
      >
        There is no page at this address. Check the link.
      </Notice>
    </PublicLayout>
  )
}
