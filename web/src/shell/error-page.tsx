import { Button, Group } from '@mantine/core'
import { IconHammer } from '@tabler/icons-react'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { ApiProblem, formatProblem } from '../api/problem.ts'
import { Notice } from '../components/notice.tsx'
import { useTitle } from '../components/title.ts'
import { useBooted } from './booted.ts'
import { isMissingFile } from './missing-files.ts'

/** A page that failed to load or to draw. A new release of the app takes the old one's files away: reloading gets the new ones. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  useTitle('Something went wrong')
  useBooted()
  const router = useRouter()
  const again = useCallback(() => {
    reset()
    void router.invalidate()
  }, [reset, router])
  // What failed for want of a connection is tried again when there is one.
  useEffect(() => {
    addEventListener('online', again)
    return () => removeEventListener('online', again)
  }, [again])
  const unreached = error instanceof ApiProblem && error.status === 0
  const stale = isMissingFile(error)
  return (
    <div role="alert">
      <Notice
        icon={IconHammer}
        order={1}
        title={
          stale
            ? 'A newer version is here'
            : unreached
              ? 'This page could not be loaded'
              : 'Something went wrong'
        }
        action={
          <Group justify="center">
            {!unreached && <Button onClick={() => location.reload()}>Reload the page</Button>}
            {!stale && (
              <Button variant="default" onClick={again}>
                Try again
              </Button>
            )}
          </Group>
        }
      >
        {stale
          ? 'This page was loaded before an update, or the connection broke off. Reloading brings it up to date.'
          : error instanceof ApiProblem
            ? formatProblem(error)
            : 'This part of the page failed. Your data is safe on the service.'}
      </Notice>
    </div>
  )
}
