import { IconMail } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { SandboxMail } from '../components/sandbox-mail.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import classes from './bar.module.css'

/** Reminder to verify the email address, with a button to resend the link. */
export function VerifyBar({ email }: { email: string }) {
  const resend = useMutation({
    mutationFn: () => api.post('/api/auth/resend-verification', { email }),
  })
  return (
    <section aria-label={t('Verify your address')} className={classes.bar}>
      <IconMail size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <div role="status" className={classes.words}>
        {rich(
          '{0}open the link we emailed to {1}.',
          resend.isSuccess
            ? t('Email sent: ')
            : resend.isError
              ? `${formatProblem(resend.error)} `
              : t('Verify your email address: '),
          <b>{email}</b>,
        )}{' '}
        <SandboxMail />
      </div>

      <button type="button" disabled={resend.isPending} onClick={() => resend.mutate()}>
        {t('Resend email')}
      </button>
    </section>
  )
}
