import { Alert, Button, Stack } from '@mantine/core'
import { IconFingerprint, IconInfoCircle } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import type { Token } from '../api/types.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { TextLink } from '../components/links.tsx'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { session } from '../session/browser-session.ts'
import { parseReturnPath } from '../session/return-path.ts'
import { acceptProviderTokens, beginSession } from '../session/sign-in.ts'
import { describeCallbackError } from './callback-errors.ts'
import { CodeForm } from './code-form.tsx'
import { OAuthButtons } from './oauth-buttons.tsx'
import { authenticateByPasskey, hasPasskeySupport } from './passkey.ts'
import { PasswordForm } from './password-form.tsx'
import { readPending } from './pending-sign-in.ts'
import { markSignedIn, readShopMethod } from './shop-entry.ts'

const route = getRouteApi('/public/login')

/**
 * Current step. `refused`: nobody in this tab started the sign-in, or a signed-in user came back
 * with an error.
 */
type Step =
  | { kind: 'password' }
  | { kind: 'code'; email: string; password: string }
  | { kind: 'challenge'; challenge: string }
  | { kind: 'refused'; error: string }

export function SignInPage() {
  const { redirect, error, challenge } = route.useSearch()
  const navigate = useNavigate()
  const [step, setStep] = useState<Step>(() => chooseFirstStep({ error, challenge }))

  const enterAccount = (pair: Token) => {
    const pending = readPending()
    if (step.kind === 'challenge') {
      const refused = acceptProviderTokens(pair, pending)
      if (refused !== null) return setStep({ kind: 'refused', error: refused })
    } else beginSession(pair)
    const target = markSignedIn(redirect) ?? pending?.returnTo
    void navigate({ href: parseReturnPath(target), replace: true })
  }
  const passkey = useMutation({ mutationFn: authenticateByPasskey, onSuccess: enterAccount })
  useShopPasskey(error ? undefined : redirect, passkey.mutate)
  const restart = () => setStep({ kind: 'password' })

  if (step.kind === 'refused')
    return <Navigate to="/auth/callback" search={{ error: step.error }} replace />
  if (step.kind !== 'password') {
    return (
      <AuthPage
        title={t('Two-factor code')}
        lead={t('Enter the six digits from your authenticator app, or one of your recovery codes.')}
      >
        {step.kind === 'code' ? (
          <CodeForm
            prove={(code) => {
              const { email, password } = step
              return api.post('/api/auth/login', { email, password, code }, { anonymous: true })
            }}
            onToken={enterAccount}
            onBack={restart}
          />
        ) : (
          <CodeForm
            prove={(code) =>
              api.post(
                '/api/auth/challenge',
                { challenge: step.challenge, code },
                { anonymous: true },
              )
            }
            onToken={enterAccount}
            onBack={restart}
          />
        )}
      </AuthPage>
    )
  }

  return (
    <AuthPage
      title={t('Welcome back')}
      footer={
        <Stack gap={6}>
          <span>
            {rich(
              'New here? {0}',
              <TextLink to="/register" search={{ redirect }}>
                {t('Create an account')}
              </TextLink>,
            )}
          </span>
          <SandboxMail />
        </Stack>
      }
    >
      <Stack>
        {error && (
          <Alert color="brass" role="alert" icon={<IconInfoCircle size={20} aria-hidden />}>
            {describeCallbackError(error)}
          </Alert>
        )}
        {redirect && !error && (
          <Alert color="pine" icon={<IconInfoCircle size={20} aria-hidden />}>
            {t('Sign in to continue.')}
          </Alert>
        )}
        <PasswordForm
          onToken={enterAccount}
          onCodeNeeded={(email, password) => setStep({ kind: 'code', email, password })}
        />
        {hasPasskeySupport() && (
          <Button
            variant="light"
            leftSection={<IconFingerprint size={20} aria-hidden />}
            loading={passkey.isPending}
            onClick={() => passkey.mutate()}
          >
            {t('Sign in with a passkey')}
          </Button>
        )}
        {passkey.isError && (
          <Alert color="red" role="alert">
            {passkey.error.name === 'NotAllowedError'
              ? t('No passkey was used. Try again, or sign in with your password.')
              : formatProblem(passkey.error)}
          </Alert>
        )}
      </Stack>
      <OAuthButtons
        redirect={markSignedIn(redirect)}
        first={error ? undefined : readShopMethod(redirect)}
      />
    </AuthPage>
  )
}

/** Asks for the passkey at once when the visitor chose it in the shop. */
function useShopPasskey(redirect: string | undefined, authenticate: () => void) {
  const isStarted = useRef(false)
  useEffect(() => {
    if (isStarted.current || readShopMethod(redirect) !== 'passkey' || !hasPasskeySupport()) return
    isStarted.current = true
    authenticate()
  }, [redirect, authenticate])
}

function chooseFirstStep({
  error,
  challenge,
}: {
  error: string | undefined
  challenge: string | undefined
}): Step {
  if (challenge !== undefined) {
    return readPending()
      ? { kind: 'challenge', challenge }
      : { kind: 'refused', error: 'invalid_state' }
  }
  return error !== undefined && session.isSignedIn()
    ? { kind: 'refused', error }
    : { kind: 'password' }
}
