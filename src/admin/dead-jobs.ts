/**
 * Emails the operator about failed jobs, once a day for each kind. Failed emails are only listed,
 * because another email would probably fail too.
 */
import { MAIL_JOBS } from '#mail/mail.ts'
import { notifyOperator } from '#mail/operator.ts'
import type { Platform } from '#platform/platform.ts'

export function emailDeadJobs(platform: Pick<Platform, 'config' | 'jobs' | 'clock'>): void {
  const { config, jobs, clock } = platform
  jobs.onDead(async (tx, { kind, attempts }, error) => {
    if (MAIL_JOBS.includes(kind)) return
    await notifyOperator(platform, tx, {
      about: `dead:${kind}:${clock.now().slice(0, 10)}`,
      title: `Job failed: ${kind}`,
      before: [
        `The job failed ${attempts} times and will not be retried automatically. Fix the cause, then retry it under Activity or with “npm run cli -- jobs retry ID”.`,
      ],
      facts: [['Last error', error.slice(0, 500)]],
      button: { label: 'View failed jobs', url: `${config.urls.frontend}/run/activity?view=jobs` },
    })
  })
}
