import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconMailForward } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { TextLink } from '../components/links.tsx'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { t } from '../language/text.ts'

export function ForgotPasswordPage() {
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (email) => (email.trim() ? null : t('Enter your email address')) },
  })
  const ask = useMutation({
    mutationFn: (email: string) =>
      api.post('/api/auth/forgot-password', { email }, { anonymous: true }),
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <AuthPage
      title={t('Reset your password')}
      lead={t('We’ll email you a link to set a new password. It expires after one hour.')}
      footer={<TextLink to="/login">{t('Back to sign in')}</TextLink>}
    >
      <form onSubmit={form.onSubmit(({ email }) => ask.mutate(email))} noValidate>
        <Stack>
          <FormProblem problem={ask.error} fields={['email']} />
          <TextInput
            label={t('Email')}
            type="email"
            autoComplete="email"
            {...form.getInputProps('email')}
          />
          <Button type="submit" loading={ask.isPending}>
            {t('Send link')}
          </Button>
          {ask.isSuccess && (
            <Alert color="pine" role="status" icon={<IconMailForward size={20} aria-hidden />}>
              {ask.data.message}. <SandboxMail />
            </Alert>
          )}
        </Stack>
      </form>
    </AuthPage>
  )
}
