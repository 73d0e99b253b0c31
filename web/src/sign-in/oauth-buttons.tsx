import { Button, Divider, Group, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { formatProblem } from '../api/problem.ts'
import { readinessQuery } from '../api/readiness.ts'
import type { OAuthProvider } from '../api/types.ts'
import { session } from '../session/browser-session.ts'
import { leaveForProvider, OAUTH_PROVIDERS } from './oauth.ts'

/** Buttons to sign in with Google or GitHub. */
export function OAuthButtons({ redirect }: { redirect: string | undefined }) {
  const { data: readiness } = useQuery(readinessQuery)
  const providers = OAUTH_PROVIDERS.filter(({ id }) => readiness?.oauth?.[id] !== 'not configured')
  const start = useMutation({
    mutationFn: (provider: OAuthProvider) =>
      leaveForProvider(provider, { as: session.userId(), returnTo: redirect }),
  })

  if (providers.length === 0) return null
  return (
    <>
      <Divider label="or" my="lg" />
      <Group grow>
        {providers.map(({ id, name, icon: Glyph }) => (
          <Button
            key={id}
            variant="default"
            leftSection={<Glyph size={18} aria-hidden />}
            loading={start.isPending && start.variables === id}
            onClick={() => start.mutate(id)}
          >
            {name}
          </Button>
        ))}
      </Group>
      {start.isError && (
        <Text c="var(--mantine-color-error)" size="sm" mt="sm" role="alert">
          {formatProblem(start.error)}
        </Text>
      )}
    </>
  )
}
