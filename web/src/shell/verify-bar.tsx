import { Alert, Button, Group, Text } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { sentence } from '../api/problem.ts'
import type { Message } from '../api/types.ts'
import { SandboxMail } from '../parts/sandbox-mail.tsx'

/** Reminds of the address that is not verified yet, and sends the link again. */
export function VerifyBar({ email }: { email: string }) {
  const resend = useMutation({ mutationFn: () => api.post<Message>('/api/auth/resend-verification', { email }) })
  return (
    <Alert color="brass" mb="lg" icon={<IconMail size={20} aria-hidden />} title="Verify your address">
      <Group justify="space-between" gap="sm">
        <Text size="sm" component="div" role="status">
          {resend.isSuccess ? 'Sent. ' : resend.isError ? `${sentence(resend.error)} ` : ''}
          Open the link that we sent to <b>{email}</b>. <SandboxMail />
        </Text>
        <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate()}>
          Send it again
        </Button>
      </Group>
    </Alert>
  )
}
