import { IconMapQuestion } from '@tabler/icons-react'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { useTitle } from '../components/title.ts'
import { useIsSignedIn } from '../session/use-session.ts'
import { PublicLayout } from './public-layout.tsx'

export function NotFound() {
  useTitle('Not found')
  const signedIn = useIsSignedIn()
  return (
    <PublicLayout>
      <Notice
        icon={IconMapQuestion}
        order={1}
        title="This key opens no door here"
        action={
          <LinkButton to={signedIn ? '/dashboard' : '/'} variant="light">
            {signedIn ? 'To your dashboard' : 'Back to the front door'}
          </LinkButton>
        }
      >
        There is no page at this address. It may have moved, or the link may have lost a letter.
      </Notice>
    </PublicLayout>
  )
}
