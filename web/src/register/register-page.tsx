import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { useFullPlan } from '../billing/use-plans.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { brand } from '../components/brand.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { TextLink } from '../components/links.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { parseReturnPath } from '../session/return-path.ts'
import { beginSession } from '../session/sign-in.ts'
import { OAuthButtons } from '../sign-in/oauth-buttons.tsx'

const route = getRouteApi('/public/register')

/** Creates the account and signs in immediately. The emailed link only verifies the address. */
export function RegisterPage() {
  const { redirect, email: invited = '', invitation } = route.useSearch()
  const navigate = useNavigate()
  const fullPlan = useFullPlan()
  const form = useForm({
    initialValues: { full_name: '', email: invited, password: '' },
    validate: {
      email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : t('Enter your email address')),
      password: (password) => (password.length >= 8 ? null : t('Use at least 8 characters')),
    },
  })

  const register = useMutation({
    mutationFn: async ({ full_name, email, password }: typeof form.values) => {
      const name = full_name.trim()
      const more = { ...(name && { full_name: name }), ...(invitation && { invitation }) }
      await api.post('/api/auth/register', { email, password, ...more }, { anonymous: true })
      return api.post('/api/auth/login', { email, password }, { anonymous: true })
    },
    onSuccess: (pair) => {
      beginSession(pair)
      void navigate({ href: parseReturnPath(redirect) })
    },
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <AuthPage
      title={t('Create your account')}
      lead={t('Accounts are free, no card needed. API keys are part of {0}.', fullPlan)}
      footer={rich(
        'Already have an account? {0}',
        <TextLink to="/login" search={{ redirect }}>
          {t('Sign in')}
        </TextLink>,
      )}
    >
      <form onSubmit={form.onSubmit((values) => register.mutate(values))} noValidate>
        <Stack>
          <FormProblem problem={register.error} fields={Object.keys(form.values)} />
          <TextInput
            label={t('Name')}
            description={t('Optional')}
            autoComplete="name"
            {...form.getInputProps('full_name')}
          />
          <TextInput
            label={t('Email')}
            type="email"
            autoComplete="email"
            required
            withAsterisk={false}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t('Password')}
            description={t('At least 8 characters. A few random words work well.')}
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={register.isPending} fullWidth>
            {t('Create account')}
          </Button>
          <Consent />
        </Stack>
      </form>
      <OAuthButtons redirect={redirect} />
    </AuthPage>
  )
}

/** Links the operator's terms and privacy policy, where they have them. */
function Consent() {
  const { terms, privacy } = brand.links
  const link = (url: string, label: string) => (
    <Anchor href={url} target="_blank" rel="noreferrer">
      {label}
    </Anchor>
  )
  if (terms === undefined && privacy === undefined) return null
  return (
    <Text size="sm" c="dimmed" ta="center">
      {terms !== undefined && (
        <>{rich('By creating an account you accept the {0}.', link(terms, t('terms')))} </>
      )}
      {privacy !== undefined &&
        rich('The {0} describes what we do with your data.', link(privacy, t('privacy policy')))}
    </Text>
  )
}
