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
      email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : 'Enter your email address'),
      password: (password) => (password.length >= 8 ? null : 'Use at least 8 characters'),
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
      title="Create your account"
      lead={`Accounts are free, no card needed. Chat, documents and API keys are part of ${fullPlan}.`}
      footer={
        <>
          Already have an account?{' '}
          <TextLink to="/login" search={{ redirect }}>
            Sign in
          </TextLink>
        </>
      }
    >
      <form onSubmit={form.onSubmit((values) => register.mutate(values))} noValidate>
        <Stack>
          <FormProblem problem={register.error} fields={Object.keys(form.values)} />
          <TextInput
            label="Name"
            description="Optional"
            autoComplete="name"
            {...form.getInputProps('full_name')}
          />
          <TextInput
            label="Email"
            type="email"
            autoComplete="email"
            required
            withAsterisk={false}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            description="At least 8 characters. A few random words work well."
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={register.isPending} fullWidth>
            Create account
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
      {terms !== undefined && <>By creating an account you accept the {link(terms, 'terms')}. </>}
      {privacy !== undefined && (
        <>The {link(privacy, 'privacy policy')} describes what we do with your data.</>
      )}
    </Text>
  )
}
