import { IconMapQuestion } from '@tabler/icons-react'
import { Notice } from '../parts/notice.tsx'
import { useTitle } from '../parts/title.ts'
import { ToButton } from '../parts/to.tsx'
import { useSignedIn } from '../session/use-session.ts'
import { OpenShell } from './open-shell.tsx'

export function NotFound() {
  useTitle('Not found')
  const signedIn = useSignedIn()
  return (
    <OpenShell>
      <Notice
        icon={IconMapQuestion}
        order={1}
        title="This key opens no door here"
        action={
          <ToButton to={signedIn ? '/dashboard' : '/'} variant="light">
            {signedIn ? 'To your dashboard' : 'Back to the front door'}
          </ToButton>
        }
      >
        There is no page at this address. It may have moved, or the link may have lost a letter.
      </Notice>
    </OpenShell>
  )
}
