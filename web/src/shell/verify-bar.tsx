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
      <div role="status" className={classes.words}>
        {resend.isSuccess
          ? 'Email sent: '
          : resend.isError
            ? `${formatProblem(resend.error)} `
            : 'Verify your email address: '}
        open the link we emailed to <b>{email}</b>. <SandboxMail />
      </div>

      <button type="button" disabled={resend.isPending} onClick={() => resend.mutate()}>
        Resend email
      </button>
    </section>
  )
}
