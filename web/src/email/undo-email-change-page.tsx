import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { t } from '../language/text.ts'
import { session } from '../session/browser-session.ts'

const route = getRouteApi('/public/undo-email-change')

/** Asks for confirmation, because mail scanners open links and this one signs out every device. */
export function UndoEmailChangePage() {
  const { token = '' } = route.useSearch()
  const undo = useMutation({
    mutationFn: () => api.post('/api/auth/undo-email-change', { token }, { anonymous: true }),
    onSuccess: () => session.end(),
  })

  if (undo.isSuccess) {
    return (
      <AuthPage title={t('Your old email address is restored')}>
        <Stack>
          <Text role="status">
            {t(
              'We signed out every device and emailed a link to set a new password to this address.',
            )}{' '}
            <SandboxMail />
          </Text>
          <LinkButton to="/login">{t('Sign in')}</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage
      title={t('Undo the email address change?')}
      lead={t(
        'We restore this address, sign out every device, and email you a link to set a new password.',
      )}
    >
      <Stack>
        <FormProblem problem={undo.error} />
        <Button onClick={() => undo.mutate()} loading={undo.isPending}>
          {t('Undo change')}
        </Button>
        <LinkButton to="/" variant="default">
          {t('Keep new address')}
        </LinkButton>
      </Stack>
    </AuthPage>
  )
}
