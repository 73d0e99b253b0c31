import { Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Token } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'

type PasswordFormProps = {
  onToken: (pair: Token) => void
  onCodeNeeded: (email: string, password: string) => void
}

export function PasswordForm({ onToken, onCodeNeeded }: PasswordFormProps) {
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: {
      email: (email) => (email.trim() ? null : t('Enter your email address')),
      password: (password) => (password ? null : t('Enter your password')),
    },
  })
  const signIn = useMutation({
    mutationFn: (values: typeof form.values) =>
      api.post('/api/auth/login', values, { anonymous: true }),
    onSuccess: onToken,
    onError: (problem, { email, password }) => {
      if (isCodeNeeded(problem)) onCodeNeeded(email, password)
      else setFieldErrors(form, problem)
    },
  })

  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))} noValidate>
      <Stack>
        <FormProblem
          problem={isCodeNeeded(signIn.error) ? null : signIn.error}
          fields={Object.keys(form.values)}
        />
        <TextInput
          label={t('Email')}
          type="email"
          autoComplete="username webauthn"
          required
          withAsterisk={false}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t('Password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...form.getInputProps('password')}
        />
        <Group justify="flex-end" mt={-8}>
          <TextLink to="/forgot-password" size="sm" py={12} underline="hover">
            {t('Forgot your password?')}
          </TextLink>
        </Group>
        <Button type="submit" loading={signIn.isPending} fullWidth>
          {t('Sign in')}
        </Button>
      </Stack>
    </form>
  )
}

function isCodeNeeded(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.code === 'two_factor_code_required'
}
