import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'

const route = getRouteApi('/public/unsubscribe')

/** Asks before it acts: mail scanners open links. */
export function UnsubscribePage() {
  const { token = '' } = route.useSearch()
  const unsubscribe = useMutation({
    mutationFn: () =>
      api.post('/api/billing/offers/unsubscribe', undefined, { query: { token }, anonymous: true }),
  })
  if (unsubscribe.isSuccess) {
    return (
      <AuthPage title="No more offers">
        <Stack>
          <Text role="status">
            You get no offers any more. What concerns a plan of yours is still written.
          </Text>
          <LinkButton to="/">To the start</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage
      title="No more offers?"
      lead="What concerns a plan or payment of yours is still written."
    >
      <Stack>
        <FormProblem problem={unsubscribe.error} />
        <Button onClick={() => unsubscribe.mutate()} loading={unsubscribe.isPending}>
          Send me no offers
        </Button>
      </Stack>
    </AuthPage>
  )
}
