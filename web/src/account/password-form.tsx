import { Button, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiForm } from '../components/api-form.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { CodeInput } from './code-input.tsx'
import { Panel } from './panel.tsx'

export function PasswordForm() {
  return useUser().has_password ? <ChangePassword /> : <FirstPassword />
}

/**
 * Accounts created with Google or GitHub have no password. The emailed link sets the first one and
 * verifies the address.
 */
function FirstPassword() {
  const { email } = useUser()
  const send = useMutation({ mutationFn: () => api.post('/api/auth/forgot-password', { email }) })
  return (
    <Panel
      title={t('Password')}
      lead={t('Your account has no password. You sign in with a linked account or a passkey.')}
    >
      <Stack align="flex-start">
        <Button variant="default" loading={send.isPending} onClick={() => send.mutate()}>
          {t('Email me a link to set a password')}
        </Button>
        <FormProblem problem={send.error} />
        {send.isSuccess && (
          <Text role="status">
            {t('Sent to {0}.', email)} <SandboxMail />
          </Text>
        )}
      </Stack>
    </Panel>
  )
}

function ChangePassword() {
  const user = useUser()
  const form = useForm({
    initialValues: { current_password: '', new_password: '', code: '' },
    validate: {
      current_password: (password) => (password ? null : t('Enter your current password')),
      new_password: (password) => (password.length >= 8 ? null : t('Use at least 8 characters')),
    },
  })
  const change = async ({ code, ...passwords }: typeof form.values) => {
    const { message } = await api.post('/api/users/me/change-password', {
      ...passwords,
      ...(code && { code: code.trim() }),
    })
    form.reset()
    showToast(message)
  }

  return (
    <Panel title={t('Password')} lead={t('Changing your password signs out your other devices.')}>
      <ApiForm form={form} action={t('Change password')} onSend={change}>
        <PasswordInput
          label={t('Current password')}
          autoComplete="current-password"
          {...form.getInputProps('current_password')}
        />
        <PasswordInput
          label={t('New password')}
          description={t('At least 8 characters')}
          autoComplete="new-password"
          {...form.getInputProps('new_password')}
        />
        {user.totp_enabled && <CodeInput {...form.getInputProps('code')} />}
      </ApiForm>
    </Panel>
  )
}
