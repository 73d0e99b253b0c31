import { Button, Divider, Group } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { readinessQuery } from '../api/readiness.ts'
import type { OAuthProvider } from '../api/types.ts'
import { ProblemText } from '../components/form-problem.tsx'
import { session } from '../session/browser-session.ts'
import { leaveForProvider, OAUTH_PROVIDERS } from './oauth.ts'
import type { ShopMethod } from './shop-entry.ts'

type OAuthButtonsProps = {
  redirect: string | undefined
  /** The method to begin with at once. */
  first?: ShopMethod | undefined
}

/** Buttons to sign in with Google or GitHub. */
export function OAuthButtons({ redirect, first }: OAuthButtonsProps) {
  const { data: readiness } = useQuery(readinessQuery)
  const providers = OAUTH_PROVIDERS.filter(({ id }) => readiness?.oauth?.[id] !== 'not configured')
  const start = useMutation({
    mutationFn: (provider: OAuthProvider) =>
      leaveForProvider(provider, { as: session.userId(), returnTo: redirect }),
  })

  const chosen = providers.find(({ id }) => id === first)?.id
  const isStarted = useRef(false)
  const { mutate } = start
  const navigate = useNavigate()
  useEffect(() => {
    if (!readiness || !chosen || isStarted.current) return
    isStarted.current = true
    // `redirect` no longer names the method, so Back does not start the sign-in again.
    void navigate({ to: '/login', search: { redirect }, replace: true }).then(() => mutate(chosen))
  }, [readiness, chosen, redirect, navigate, mutate])

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
      <ProblemText problem={start.error} mt="sm" />
    </>
  )
}
