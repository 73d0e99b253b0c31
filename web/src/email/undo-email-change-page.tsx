import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { AuthPage } from '../components/auth-page.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { session } from '../session/browser-session.ts'

const route = getRouteApi('/public/undo-email-change')

/** Asks before it acts: mail scanners open links, and this one signs every device out. */
export function UndoEmailChangePage() {
  const { token = '' } = route.useSearch()
  const undo = useMutation({
    mutationFn: () => api.post('/api/auth/undo-email-change', { token }, { anonymous: true }),
    onSuccess: () => session.end(),
  })

  if (undo.isSuccess) {
    return (
      <AuthPage title="Your old address is back">
        <Stack>
          <Text role="status">
            Every device was signed out, and a link to set a new password is on its way to this
            address. <SandboxMail />
          </Text>
          <LinkButton to="/login">Sign in</LinkButton>
        </Stack>
      </AuthPage>
    )
  }
  return (
    <AuthPage
      title="Undo the change of address?"
      lead="Your account goes back to this address, every device is signed out, and we send you a link to set a new password."
    >
      <Stack>
        <FormProblem problem={undo.error} />
        <Button onClick={() => undo.mutate()} loading={undo.isPending}>
          Yes, undo it
        </Button>
        <LinkButton to="/" variant="default">
          No, the change was mine
        </LinkButton>
      </Stack>
    </AuthPage>
  )
}
