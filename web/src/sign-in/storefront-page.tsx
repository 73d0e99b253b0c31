import { Alert, Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'

const route = getRouteApi('/app/storefront')

/** Signs the user in to the storefront with the session of the app. */
export function StorefrontPage() {
  const { state = '', continue: continuesAtOnce } = route.useSearch()
  const user = useUser()
  const continueToShop = useMutation({
    mutationFn: () => api.post('/api/auth/storefront', { state }),
    onSuccess: ({ url }) => location.assign(url),
  })
  // Effects run twice in development, but a state works once.
  const isStarted = useRef(false)
  const { mutate } = continueToShop
  useEffect(() => {
    if (!continuesAtOnce || isStarted.current) return
    isStarted.current = true
    mutate()
  }, [continuesAtOnce, mutate])
  return (
    <Page title={t('Sign in to the shop')} lead={t('You are signed in as {0}.', user.email)}>
      <Stack maw={420}>
        {continueToShop.isError && (
          <Alert color="red" role="alert">
            {formatProblem(continueToShop.error)}
          </Alert>
        )}
        <Button
          loading={continueToShop.isPending || continueToShop.isSuccess}
          onClick={() => continueToShop.mutate()}
        >
          {t('Continue to the shop')}
        </Button>
      </Stack>
    </Page>
  )
}
