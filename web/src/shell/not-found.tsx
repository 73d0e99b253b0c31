import { IconMapQuestion } from '@tabler/icons-react'
import { Notice } from '../parts/notice.tsx'
import { useTitle } from '../parts/title.ts'
import { ToButton } from '../parts/to.tsx'
import { OpenShell } from './open-shell.tsx'

export function NotFound() {
  useTitle('Not found')
  return (
    <OpenShell>
      <Notice
        icon={IconMapQuestion}
        order={1}
        title="This key opens no door here"
        action={
          <ToButton to="/" variant="light">
            Back to the front door
          </ToButton>
        }
      >
        There is no page at this address. It may have moved, or the link may have lost a letter.
      </Notice>
    </OpenShell>
  )
}
