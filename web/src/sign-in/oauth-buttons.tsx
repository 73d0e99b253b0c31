import { Button, Divider, Group, Text } from '@mantine/core'
import { IconBrandGithubFilled, IconBrandGoogleFilled } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { messageOf } from '../api/problem.ts'
import { readinessQuery } from '../api/readiness.ts'
import { session } from '../session/browser-session.ts'
import { rememberSignIn } from './pending-sign-in.ts'

const PROVIDERS = [
  { id: 'google', name: 'Google', icon: IconBrandGoogleFilled },
  { id: 'github', name: 'GitHub', icon: IconBrandGithubFilled },
] as const

/** Sign-in with an account elsewhere. Leaves this app; `/auth/callback` is where the way back ends. */
export function OAuthButtons({ redirect }: { redirect: string | undefined }) {
  const { data: readiness } = useQuery(readinessQuery)
  const providers = PROVIDERS.filter(({ id }) => readiness?.oauth?.[id] !== 'not configured')
  const start = useMutation({
    mutationFn: (provider: string) =>
      api.get<{ authorization_url: string }>(`/api/auth/oauth/${provider}`, { anonymous: true }),
    onSuccess: ({ authorization_url }) => {
      rememberSignIn({ as: session.userId(), returnTo: redirect })
      location.assign(authorization_url)
    },
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
          {messageOf(start.error)}
        </Text>
      )}
    </>
  )
}
