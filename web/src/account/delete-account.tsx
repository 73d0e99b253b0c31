import { Alert, Button, Modal, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { api } from '../api/client.ts'
import { ApiForm } from '../components/api-form.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useLeave } from '../session/sign-out.ts'
import { useUser } from '../session/user.ts'
import { CodeInput } from './code-input.tsx'
import { Panel } from './panel.tsx'

export function DeleteAccount() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Panel
      title={t('Delete this account')}
      lead={t(
        'Deletes your account, documents, API keys, sessions and messages immediately, and cancels your subscription. The rest of a paid period is not refunded. You can’t undo this.',
      )}
    >
      <Button color="red" variant="light" onClick={open} style={{ alignSelf: 'flex-start' }}>
        {t('Delete account')}
      </Button>
      <Modal opened={opened} onClose={close} title={t('Delete this account?')}>
        <DeleteForm onClose={close} />
      </Modal>
    </Panel>
  )
}

/** Accounts with a password confirm with it; others type DELETE. */
function DeleteForm({ onClose }: { onClose: () => void }) {
  const user = useUser()
  const leave = useLeave()
  const form = useForm({ initialValues: { password: '', confirm: '', code: '' } })
  return (
    <ApiForm
      form={form}
      action={t('Delete account')}
      color="red"
      disabled={!form.values.password && form.values.confirm !== 'DELETE'}
      onCancel={onClose}
      onSend={async ({ password, confirm, code }) => {
        await api.delete('/api/users/me', {
          ...(password && { password }),
          ...(confirm && { confirm }),
          ...(code && { code: code.trim() }),
        })
        leave()
      }}
    >
      <Alert color="red">{t('All your data is deleted immediately. You can’t undo this.')}</Alert>
      <Text>{rich('Confirm for {0}:', <b>{user.email}</b>)}</Text>
      {user.has_password ? (
        <PasswordInput
          label={t('Your password')}
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
      ) : (
        <TextInput
          label={t('Type DELETE')}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('confirm')}
        />
      )}
      {user.totp_enabled && <CodeInput {...form.getInputProps('code')} />}
    </ApiForm>
  )
}
