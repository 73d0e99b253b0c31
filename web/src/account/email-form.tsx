import { PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api } from '../api/client.ts'
import { queries, userQuery } from '../api/queries.ts'
import { ApiForm } from '../components/api-form.tsx'
import { showToast } from '../components/toasts.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { CodeInput } from './code-input.tsx'
import { Panel } from './panel.tsx'

export function EmailForm() {
  const user = useUser()
  const form = useForm({
    initialValues: { new_email: '', password: '', code: '' },
    validate: {
      new_email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : t('Enter an email address')),
    },
  })
  const change = async ({ new_email, password, code }: typeof form.values) => {
    const { message } = await api.post('/api/users/me/change-email', {
      new_email,
      ...(password && { password }),
      ...(code && { code: code.trim() }),
    })
    form.reset()
    showToast(message)
    void queries.invalidateQueries({ queryKey: userQuery.queryKey })
  }

  return (
    <Panel
      title={t('Email address')}
      lead={rich(
        'Your address is {0}. A new address applies immediately and must be verified. We email the old address a link to undo the change within 7 days. Your other devices are signed out.',
        <b>{user.email}</b>,
      )}
    >
      <ApiForm form={form} action={t('Change address')} onSend={change}>
        <TextInput
          label={t('New address')}
          type="email"
          autoComplete="email"
          {...form.getInputProps('new_email')}
        />
        {user.has_password && (
          <PasswordInput
            label={t('Your password')}
            autoComplete="current-password"
            {...form.getInputProps('password')}
          />
        )}
        {user.totp_enabled && <CodeInput {...form.getInputProps('code')} />}
      </ApiForm>
    </Panel>
  )
}
