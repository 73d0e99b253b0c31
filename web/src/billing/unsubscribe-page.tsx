import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'

const route = getRouteApi('/public/unsubscribe')

/** Asks for confirmation, because mail scanners open links. */
export function UnsubscribePage() {
  const { token = '' } = route.useSearch()
  const unsubscribe = useMutation({
    mutationFn: () =>
      api.post('/api/billing/offers/unsubscribe', undefined, { query: { token }, anonymous: true }),
  })
  if (unsubscribe.isSuccess) {
    return (
      <AuthPage title={t('You’re unsubscribed')}>
        <Stack>
          <Text role="status">
            {t('We won’t send you offers. We’ll still email you about your plan and payments.')}
          </Text>
          <LinkButton to="/">{t('Go to home')}</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage
      title={t('Unsubscribe from offers?')}
      lead={t('We’ll still email you about your plan and payments.')}
    >
      <Stack>
        <FormProblem problem={unsubscribe.error} />
        <Button onClick={() => unsubscribe.mutate()} loading={unsubscribe.isPending}>
          {t('Unsubscribe')}
        </Button>
      </Stack>
    </AuthPage>
  )
}
