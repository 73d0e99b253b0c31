/** Emails the operator about failed jobs, once a day for each kind. Mails that gave up are only listed: another mail would fare no better. */
import { MAIL_JOBS } from '#mail/mail.ts'
import { notifyOperator } from '#mail/operator.ts'
import type { Platform } from '#platform/platform.ts'

export function tellOfDeadJobs(platform: Pick<Platform, 'config' | 'jobs' | 'clock'>): void {
  const { config, jobs, clock } = platform
  jobs.onDead(async (tx, { kind, attempts }, error) => {
    if (MAIL_JOBS.includes(kind)) return
    await notifyOperator(platform, tx, {
      about: `dead:${kind}:${clock.now().slice(0, 10)}`,
      title: `Work was given up: ${kind}`,
      before: [
        `It failed ${attempts} times and is not tried again by itself. When its cause is mended, try it again from the page below or with “npm run cli -- jobs retry”.`,
      ],
      facts: [['Last error', error.slice(0, 500)]],
      button: { label: 'Look at it', url: `${config.urls.frontend}/admin` },
    })
  })
}
