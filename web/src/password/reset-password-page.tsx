import { Button, Center, Checkbox, Loader, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'

const route = getRouteApi('/public/reset-password')

/** Checks the link before asking for a password. */
export function ResetPasswordPage() {
  const { token = '' } = route.useSearch()
  const check = useQuery({
    queryKey: ['reset-token', token],
    queryFn: () => api.post('/api/auth/verify-reset-token', { token }, { anonymous: true }),
    staleTime: Number.POSITIVE_INFINITY,
  })

  if (check.isPending) {
    return (
      <AuthPage title={t('Set a new password')}>
        <Center>
          <Loader aria-label={t('Checking the link')} />
        </Center>
      </AuthPage>
    )
  }
  if (check.isError) {
    return (
      <AuthPage title={t('This link does not work')}>
        <Stack>
          <Text role="alert">
            {t(
              '{0} Links work once, expire after one hour, and only the newest works.',
              formatProblem(check.error),
            )}
          </Text>
          <LinkButton to="/forgot-password">{t('Send a new link')}</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return <NewPassword token={token} />
}

function NewPassword({ token }: { token: string }) {
  const form = useForm({
    initialValues: { new_password: '', revoke_api_keys: false },
    validate: {
      new_password: (password) => (password.length >= 8 ? null : t('Use at least 8 characters')),
    },
  })
  const reset = useMutation({
    mutationFn: (values: typeof form.values) =>
      api.post('/api/auth/reset-password', { token, ...values }, { anonymous: true }),
    onError: (problem) => setFieldErrors(form, problem),
  })

  if (reset.isSuccess) {
    return (
      <AuthPage title={t('Your new password is set')}>
        <Stack>
          <Text role="status">
            {t('We signed out every device. Sign in with your new password.')}
          </Text>
          <LinkButton to="/login">{t('Sign in')}</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage title={t('Set a new password')} lead={t('This signs out all your devices.')}>
      <form onSubmit={form.onSubmit((values) => reset.mutate(values))} noValidate>
        <Stack>
          <FormProblem problem={reset.error} fields={Object.keys(form.values)} />
          <PasswordInput
            label={t('New password')}
            description={t('At least 8 characters')}
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          <Checkbox
            label={t('Also revoke all API keys')}
            description={t(
              'Choose this if someone else may have had access. Programs with a key stop working.',
            )}
            {...form.getInputProps('revoke_api_keys', { type: 'checkbox' })}
          />
          <Button type="submit" loading={reset.isPending}>
            {t('Set password')}
          </Button>
        </Stack>
      </form>
    </AuthPage>
  )
}
