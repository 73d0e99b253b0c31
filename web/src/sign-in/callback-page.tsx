import { Alert, Button, Center, Loader, Stack } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { AuthPage } from '../components/auth-page.tsx'
import { t } from '../language/text.ts'
import { session } from '../session/browser-session.ts'
import { parseReturnPath } from '../session/return-path.ts'
import { acceptProviderTokens } from '../session/sign-in.ts'
import { describeCallbackError } from './callback-errors.ts'
import { takeCallbackTokens } from './callback-tokens.ts'
import { clearPending, readPending } from './pending-sign-in.ts'

const route = getRouteApi('/public/auth/callback')

/**
 * Landing page of a provider's redirect, with tokens or an error code. A signed-in user sees the
 * error here and stays signed in; others go to the sign-in page.
 */
export function CallbackPage() {
  const { error } = route.useSearch()
  const navigate = useNavigate()
  const [pending] = useState(readPending)
  const [refusal, setRefusal] = useState<string | null>(null)
  // Effects run twice in development, but tokens can be read once.
  const isSettled = useRef(false)
  const returnTo = parseReturnPath(pending?.returnTo)

  useEffect(() => {
    if (isSettled.current) return
    isSettled.current = true
    const pair = takeCallbackTokens()
    // No tokens: the page was reloaded.
    const none = session.isSignedIn() ? null : 'provider_error'
    const refused = error ?? (pair ? acceptProviderTokens(pair, pending) : none)
    clearPending()
    if (refused === null) void navigate({ href: returnTo, replace: true })
    else if (session.isSignedIn()) setRefusal(refused)
    else void navigate({ to: '/login', search: { error: refused }, replace: true })
  }, [error, navigate, pending, returnTo])

  if (refusal !== null) {
    return (
      <AuthPage title={t('Couldn’t sign in')} lead={t('You are still signed in to your account.')}>
        <Stack>
          <Alert color="brass" role="alert" icon={<IconInfoCircle size={20} aria-hidden />}>
            {describeCallbackError(refusal)}
          </Alert>
          <Button onClick={() => navigate({ href: returnTo, replace: true })}>
            {t('Continue')}
          </Button>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage title={t('Signing you in')}>
      <Center>
        <Loader aria-label={t('Signing you in')} />
      </Center>
    </AuthPage>
  )
}
