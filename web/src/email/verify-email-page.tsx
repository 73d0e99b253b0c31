import { Center, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { queries, userQuery } from '../api/queries.ts'
import type { Message } from '../api/types.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { session } from '../session/browser-session.ts'
import { useHasSession } from '../session/use-session.ts'

/**
 * Sends the session if there is one: it proves that the mailbox's owner set the password. The link
 * works without it too.
 */
async function verifyEmail(token: string): Promise<Message> {
  const signedIn = (await session.token().catch(() => null)) !== null
  return api.post('/api/auth/verify-email', { token }, { anonymous: !signedIn })
}

const route = getRouteApi('/public/verify-email')

export function VerifyEmailPage() {
  const { token = '' } = route.useSearch()
  const signedIn = useHasSession()
  // A query instead of a mutation in an effect, because it runs once per token.
  const verify = useQuery({
    queryKey: ['verify-email', token],
    queryFn: () => verifyEmail(token),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

  useEffect(() => {
    if (verify.isSuccess) void queries.invalidateQueries({ queryKey: userQuery.queryKey })
  }, [verify.isSuccess])

  const onward = signedIn ? (
    <LinkButton to="/dashboard">{t('Go to dashboard')}</LinkButton>
  ) : (
    <LinkButton to="/login">{t('Sign in')}</LinkButton>
  )

  if (verify.isPending) {
    return (
      <AuthPage title={t('Verifying your email address')}>
        <Center>
          <Loader aria-label={t('Verifying')} />
        </Center>
      </AuthPage>
    )
  }
  if (verify.isError) {
    return (
      <AuthPage title={t('This link does not work')}>
        <Stack>
          <Text role="alert">
            {t(
              '{0} Links expire after one day, and only the newest works. Sign in to get a new one.',
              formatProblem(verify.error),
            )}
          </Text>
          {onward}
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage title={t('Email verified')}>
      <Stack>
        <Text role="status" ta="center">
          {verify.data.message}.
        </Text>
        {onward}
      </Stack>
    </AuthPage>
  )
}
