import { Button, Group, Text } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import classes from './bar.module.css'

/** Reminder to verify the email address, with a button to resend the link. */
export function VerifyBar({ email }: { email: string }) {
  const resend = useMutation({
    mutationFn: () => api.post('/api/auth/resend-verification', { email }),
  })
  return (
    <section aria-label="Verify your address" className={classes.bar}>
      <IconMail size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <Text size="sm" component="div" role="status" flex={1} miw={220}>
        {resend.isSuccess
          ? 'Email sent: '
          : resend.isError
            ? `${formatProblem(resend.error)} `
            : 'Verify your email address: '}
        open the link we emailed to <b>{email}</b>. <SandboxMail />
      </Text>
      <Group gap={0}>
        <Button
          variant="subtle"
          color="brass"
          loading={resend.isPending}
          onClick={() => resend.mutate()}
        >
          Resend email
        </Button>
      </Group>
    </section>
  )
}
