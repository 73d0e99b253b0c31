import { Center, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../api/client.ts'
import { sentence } from '../api/problem.ts'
import { queries, userQuery } from '../api/queries.ts'
import type { Message } from '../api/types.ts'
import { Door } from '../parts/door.tsx'
import { ToButton } from '../parts/to.tsx'
import { session } from '../session/browser-session.ts'
import { useSignedIn } from '../session/use-session.ts'

/**
 * With the session where there is one: it shows that the one who reads the mailbox is the one who set the password. The link
 * works without, too.
 */
async function verifyEmail(token: string): Promise<Message> {
  const signedIn = (await session.token().catch(() => null)) !== null
  return api.post<Message>('/api/auth/verify-email', { token }, { anonymous: !signedIn })
}

const route = getRouteApi('/open/verify-email')

export function VerifyEmailPage() {
  const { token = '' } = route.useSearch()
  const signedIn = useSignedIn()
  // A query, not a mutation in an effect: it runs once per token however often the page is drawn.
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
    <ToButton to="/dashboard">Go to your dashboard</ToButton>
  ) : (
    <ToButton to="/login">Sign in</ToButton>
  )

  if (verify.isPending) {
    return (
      <Door title="Verifying your address">
        <Center>
          <Loader aria-label="Verifying" />
        </Center>
      </Door>
    )
  }
  if (verify.isError) {
    return (
      <Door title="This link does not work">
        <Stack>
          <Text role="alert">
            {sentence(verify.error)} Links work for a day, and a newer one replaces the older. Sign in to have a new one
            sent.
          </Text>
          {onward}
        </Stack>
      </Door>
    )
  }
  return (
    <Door title="Thank you">
      <Stack>
        <Text role="status" ta="center">
          {verify.data.message}.
        </Text>
        {onward}
      </Stack>
    </Door>
  )
}
