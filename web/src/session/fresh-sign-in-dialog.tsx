import { Alert, Button, Divider, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { CodeInput } from '../account/code-input.tsx'
import { api } from '../api/client.ts'
import { ApiProblem, formatProblem } from '../api/problem.ts'
import { readQuery } from '../api/queries.ts'
import type { OAuthProvider, Token, User } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import { leaveForProvider, OAUTH_PROVIDERS } from '../sign-in/oauth.ts'
import { authenticateByPasskey, hasPasskeySupport } from '../sign-in/passkey.ts'
import { session } from './browser-session.ts'
import { freshSignIn } from './fresh-sign-in.ts'
import { reauthenticate } from './sign-in.ts'

/** Asks to sign in again when the service requires it; the original request then continues. */
export function FreshSignInDialog({ user }: { user: User }) {
  const isOpen = useSyncExternalStore(freshSignIn.subscribe, freshSignIn.isAsked)
  if (!isOpen) return null
  return (
    <Dialog title={t('Confirm it’s you')} onClose={() => freshSignIn.settle(false)}>
      <Stack>
        <Text>{t('You signed in more than ten minutes ago. Sign in again to continue.')}</Text>
        {user.has_password && <PasswordAgain user={user} />}
        <OtherMethods withDivider={user.has_password} />
      </Stack>
    </Dialog>
  )
}

/** @throws ApiProblem when the sign-in belongs to another account */
function confirmIdentity(pair: Token) {
  if (!reauthenticate(pair))
    throw new ApiProblem(
      0,
      t('You signed in to another account. Use the account that is open here.'),
    )
  freshSignIn.settle(true)
}

function PasswordAgain({ user }: { user: User }) {
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: {
      password: (password) => (password ? null : t('Enter your password')),
      code: (code) => (!user.totp_enabled || code.trim() ? null : t('Enter a code')),
    },
  })
  const signIn = useMutation({
    mutationFn: async ({ password, code }: typeof form.values) =>
      confirmIdentity(
        await api.post(
          '/api/auth/login',
          { email: user.email, password, ...(code && { code: code.trim() }) },
          { anonymous: true },
        ),
      ),
    onError: (problem) => setFieldErrors(form, problem),
  })
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))} noValidate>
      <Stack>
        <input type="email" autoComplete="username" value={user.email} readOnly hidden />
        <PasswordInput
          label={t('Your password')}
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
        {user.totp_enabled && <CodeInput {...form.getInputProps('code')} />}
        <FormProblem problem={signIn.error} fields={Object.keys(form.values)} />
        <Button type="submit" loading={signIn.isPending}>
          {t('Sign in again')}
        </Button>
      </Stack>
    </form>
  )
}

/**
 * A passkey continues in place. A provider redirects away and back, and the user repeats the
 * action.
 */
function OtherMethods({ withDivider }: { withDivider: boolean }) {
  const passkeys = useQuery(readQuery(['passkeys'], '/api/auth/passkeys'))
  const links = useQuery(readQuery(['links'], '/api/users/me/oauth'))
  const passkey = useMutation({
    mutationFn: async () => confirmIdentity(await authenticateByPasskey()),
  })
  const provider = useMutation({
    mutationFn: (id: OAuthProvider) =>
      leaveForProvider(id, { as: session.userId(), returnTo: location.pathname + location.search }),
  })
  const withPasskey = hasPasskeySupport() && (passkeys.data?.length ?? 0) > 0
  const linked = OAUTH_PROVIDERS.filter(({ id }) =>
    links.data?.some(({ provider }) => provider === id),
  )
  const problem = passkey.error ?? provider.error
  if (!withPasskey && linked.length === 0) return null
  return (
    <>
      {withDivider && <Divider label="or" />}
      <Group grow>
        {withPasskey && (
          <Button
            variant="light"
            leftSection={<IconFingerprint size={20} aria-hidden />}
            loading={passkey.isPending}
            onClick={() => passkey.mutate()}
          >
            {t('Use a passkey')}
          </Button>
        )}
        {linked.map(({ id, name, icon: Glyph }) => (
          <Button
            key={id}
            variant="default"
            leftSection={<Glyph size={18} aria-hidden />}
            loading={provider.isPending && provider.variables === id}
            onClick={() => provider.mutate(id)}
          >
            {name}
          </Button>
        ))}
      </Group>
      {problem && (
        <Alert color="red" role="alert">
          {problem.name === 'NotAllowedError'
            ? t('No passkey was used. Try again.')
            : formatProblem(problem)}
        </Alert>
      )}
    </>
  )
}
