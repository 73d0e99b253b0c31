import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertCircle, IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { SetupState } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { setupQuery } from './setup-query.ts'

const LOOK_MS = 1_000
/** The longest drain, and a start. */
const LOOKS_MAX = 180

/** Offers the restart that applies saved settings, and waits until the service is ready again. */
export function Restart({ state }: { state: SetupState }) {
  const restart = useMutation({
    mutationFn: async () => {
      const { started_at } = await api.post('/api/admin/setup/restart')
      return waitForStart(started_at)
    },
    onSuccess: (next) => {
      queries.setQueryData(setupQuery.queryKey, next)
      if (next.restart_failure === null) showToast(t('The service runs with the new settings'))
    },
  })
  if (state.pending.length === 0 && state.restart_failure === null) return null
  return (
    <Stack gap="sm">
      {state.restart_failure !== null && (
        <Alert color="red" icon={<IconAlertCircle size={20} aria-hidden />}>
          {t(
            'The service could not start with the last settings and returned to the former ones: {0}',
            state.restart_failure,
          )}
        </Alert>
      )}
      {state.pending.length > 0 && (
        <Alert
          color="brass"
          icon={<IconRefresh size={20} aria-hidden />}
          title={t('Restart to apply')}
        >
          <Stack gap="sm" align="flex-start">
            <Text size="sm">
              {t(
                'Changed and not in use yet: {0}. Running requests end first.',
                state.pending.join(', '),
              )}
            </Text>
            <FormProblem problem={restart.error} />
            <Button loading={restart.isPending} onClick={() => restart.mutate()}>
              {t('Restart now')}
            </Button>
          </Stack>
        </Alert>
      )}
    </Stack>
  )
}

async function waitForStart(formerStart: string): Promise<SetupState> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    // The service is away for a moment.
    const next = await api.get('/api/admin/setup').catch(() => null)
    if (next !== null && next.started_at !== formerStart) return next
  }
  throw new Error('The service did not come back. Read its log.')
}
