import { Alert, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Passkey } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { describeDevice } from '../components/device.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatAge, formatDay } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { showToast } from '../components/toasts.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { hasPasskeySupport, registerPasskey } from '../sign-in/passkey.ts'
import { Panel } from './panel.tsx'

const passkeysKey = ['passkeys']

export function Passkeys() {
  const passkeys = useQuery(readQuery(passkeysKey, '/api/auth/passkeys'))
  const [toRemove, setToRemove] = useState<Passkey | null>(null)
  const addPasskey = useMutation({
    mutationFn: () => registerPasskey(describeDevice(navigator.userAgent)),
    onSuccess: () => {
      showToast(t('Passkey added'))
      void queries.invalidateQueries({ queryKey: passkeysKey })
    },
  })

  return (
    <Panel
      title={t('Passkeys')}
      lead={t('Sign in with your fingerprint, face or device PIN instead of a password.')}
    >
      <Stack gap="xs">
        <Loaded query={passkeys} skeleton={<Skeleton h={60} />}>
          {(list) =>
            list.map((passkey) => (
              <Paper key={passkey.id} withBorder radius="md" p="sm">
                <Group justify="space-between">
                  <div>
                    <Text fw={550}>{passkey.name || t('Passkey')}</Text>
                    <Text c="dimmed" size="sm">
                      {rich(
                        'Since {0}{1}',
                        formatDay(passkey.created_at),
                        passkey.last_used_at &&
                          t(', last used {0}', formatAge(passkey.last_used_at)),
                      )}
                    </Text>
                  </div>
                  <Button variant="default" onClick={() => setToRemove(passkey)}>
                    {t('Remove')}
                  </Button>
                </Group>
              </Paper>
            ))
          }
        </Loaded>
        <Group>
          <Button
            variant="light"
            leftSection={<IconFingerprint size={20} aria-hidden />}
            loading={addPasskey.isPending}
            disabled={!hasPasskeySupport()}
            onClick={() => addPasskey.mutate()}
          >
            {t('Add a passkey')}
          </Button>
          {!hasPasskeySupport() && (
            <Text c="dimmed">{t('This browser does not support passkeys.')}</Text>
          )}
        </Group>
        {addPasskey.isError && <RegistrationProblem problem={addPasskey.error} />}
      </Stack>
      <Confirm
        opened={toRemove !== null}
        onClose={() => setToRemove(null)}
        title={t('Remove this passkey?')}
        action={t('Remove')}
        onConfirm={async () => {
          if (toRemove)
            await api.delete('/api/auth/passkeys/{id}', undefined, { path: { id: toRemove.id } })
          await queries.invalidateQueries({ queryKey: passkeysKey })
        }}
      >
        {t('You can no longer sign in with it. Delete it from your device too.')}
      </Confirm>
    </Panel>
  )
}

/** The browser's errors have names (WebAuthn, section 5.1.3); others come from the service. */
function RegistrationProblem({ problem }: { problem: Error }) {
  if (problem.name === 'NotAllowedError')
    return <Alert color="brass">{t('No passkey was created. Try again.')}</Alert>
  if (problem.name === 'InvalidStateError') {
    return <Alert color="brass">{t('This device already has a passkey for your account.')}</Alert>
  }
  return <FormProblem problem={problem} />
}
