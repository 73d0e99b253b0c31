import {
  Badge,
  Box,
  Button,
  Group,
  Modal,
  PasswordInput,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconShieldCheck } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries, userQuery } from '../api/queries.ts'
import type { StartTotpResponse } from '../api/types.ts'
import { ApiForm } from '../components/api-form.tsx'
import { CopyText } from '../components/copy.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LOCKED, ShownOnce } from '../components/shown-once.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { Panel } from './panel.tsx'
import { TwoFactorSetup } from './two-factor-setup.tsx'

export function TwoFactor() {
  const user = useUser()
  const [start, setStart] = useState<StartTotpResponse | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [turningOff, off] = useDisclosure(false)
  const startSetup = useMutation({
    mutationFn: () => api.post('/api/users/me/totp'),
    onSuccess: setStart,
  })
  const refreshUser = () => queries.invalidateQueries({ queryKey: userQuery.queryKey })

  return (
    <Panel
      title={t('Two-factor')}
      lead={t(
        'Sign in with your password and a code from your phone. Use a recovery code if you lose your phone.',
      )}
    >
      <Group>
        {user.totp_enabled ? (
          <>
            <Badge color="pine" size="lg" leftSection={<IconShieldCheck size={16} aria-hidden />}>
              {t('On')}
            </Badge>
            <Button variant="default" onClick={off.open}>
              {t('Turn off')}
            </Button>
          </>
        ) : (
          <Button loading={startSetup.isPending} onClick={() => startSetup.mutate()}>
            {t('Set up two-factor')}
          </Button>
        )}
      </Group>
      {startSetup.isError && (
        <Box mt="md">
          <FormProblem problem={startSetup.error} />
        </Box>
      )}
      <Modal
        opened={start !== null}
        onClose={() => setStart(null)}
        title={t('Set up two-factor')}
        size="md"
      >
        {start && (
          <TwoFactorSetup
            start={start}
            onCodes={(list) => {
              setStart(null)
              setCodes(list)
              void refreshUser()
            }}
          />
        )}
      </Modal>
      <Modal {...LOCKED} opened={codes !== null} title={t('Your recovery codes')}>
        {codes && <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />}
      </Modal>
      <Modal opened={turningOff} onClose={off.close} title={t('Turn off two-factor?')}>
        <TurnOff
          withPassword={user.has_password}
          onDone={() => {
            off.close()
            showToast(t('Two-factor is off'))
            void refreshUser()
          }}
        />
      </Modal>
    </Panel>
  )
}

function TurnOff({ withPassword, onDone }: { withPassword: boolean; onDone: () => void }) {
  const form = useForm({
    initialValues: { code: '', password: '' },
    validate: { code: (code) => (code.trim() ? null : t('Enter a code')) },
  })
  return (
    <ApiForm
      form={form}
      action={t('Turn off')}
      color="red"
      onSend={async ({ code, password }) => {
        const body = { code: code.trim(), ...(password && { password }) }
        await api.delete('/api/users/me/totp', body)
        onDone()
      }}
    >
      <Text>{t('You will sign in with your password alone.')}</Text>
      <TextInput
        label={t('Code')}
        description={t('From your authenticator app, or a recovery code')}
        autoComplete="one-time-code"
        data-autofocus
        {...form.getInputProps('code')}
      />
      {withPassword && (
        <PasswordInput
          label={t('Your password')}
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
      )}
    </ApiForm>
  )
}

function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <ShownOnce confirmation={t('I’ve saved these codes')} onDone={onDone}>
      <Text>
        {t(
          'Two-factor authentication is on. Use each code once to sign in without your phone. You won’t see these codes again.',
        )}
      </Text>
      <SimpleGrid
        cols={2}
        component="ul"
        p="md"
        m={0}
        bg="var(--latch-wash)"
        style={{ borderRadius: 12, listStyle: 'none' }}
      >
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </SimpleGrid>
      <Group>
        <CopyText value={codes.join('\n')}>{t('Copy all')}</CopyText>
      </Group>
    </ShownOnce>
  )
}
