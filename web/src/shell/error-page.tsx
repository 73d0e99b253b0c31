import { IconHammer } from '@tabler/icons-react'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { ApiProblem, formatProblem } from '../api/problem.ts'
import { Notice } from '../components/notice.tsx'
import { useTitle } from '../components/title.ts'
import { ActionButton } from '../conversations/parts/action-button.tsx'
import { t } from '../language/text.ts'
import { useBooted } from './booted.ts'
import classes from './error-page.module.css'

/**
 * Page that failed to load or render. A new release removes the old files, so the page offers a
 * reload.
 */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  useTitle(t('Something went wrong'))
  useBooted()
  const router = useRouter()
  const again = useCallback(() => {
    reset()
    void router.invalidate()
  }, [reset, router])
  // Retry when the browser is online again.
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
            ? t('A new version is available')
            : unreached
              ? t('Couldn’t load this page')
              : t('Something went wrong')
        }
        action={
          <div className={classes.actions}>
            {!unreached && (
              <ActionButton tone="primary" onClick={() => location.reload()}>
                {t('Reload page')}
              </ActionButton>
            )}
            {!stale && <ActionButton onClick={again}>{t('Try again')}</ActionButton>}
          </div>
        }
      >
        {stale
          ? t('The app was updated, or the connection was lost. Reload the page to continue.')
          : error instanceof ApiProblem
            ? formatProblem(error)
            : t('This page failed. Your data is safe. Try again, or reload the page.')}
      </Notice>
    </div>
  )
}

/**
 * Errors of files that failed to load, for example because a release removed them. Vite reports
 * each one (https://vite.dev/guide/build#load-error-handling); the browsers' own errors have no
 * code.
 */
const missing = new WeakSet<Error>()

addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}
