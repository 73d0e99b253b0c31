/**
 * Emails the operator about failed jobs, once a day for each kind. Failed emails are only listed,
 * because another email would probably fail too.
 */
import { MAIL_JOBS } from '#mail/mail.ts'
import { notifyOperator } from '#mail/operator.ts'
import type { Messages } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'

type Texts = {
  title: (kind: string) => string
  before: (attempts: number) => string
  lastError: string
  button: string
}

const MESSAGES: Messages<Texts> = {
  en: {
    title: (kind) => `Job failed: ${kind}`,
    before: (attempts) =>
      `The job failed ${attempts} times and will not be retried automatically. Fix the cause, then retry it under Activity or with “npm run cli -- jobs retry ID”.`,
    lastError: 'Last error',
    button: 'View failed jobs',
  },
  de: {
    title: (kind) => `Job fehlgeschlagen: ${kind}`,
    before: (attempts) =>
      `Der Job ist ${attempts}-mal fehlgeschlagen und wird nicht von selbst wiederholt. Beheben Sie die Ursache, und wiederholen Sie ihn unter „Aktivität“ oder mit „npm run cli -- jobs retry ID“.`,
    lastError: 'Letzter Fehler',
    button: 'Fehlgeschlagene Jobs ansehen',
  },
}

export function emailDeadJobs(platform: Pick<Platform, 'config' | 'jobs' | 'clock'>): void {
  const { config, jobs, clock } = platform
  jobs.onDead(async (tx, { kind, attempts }, error) => {
    if (MAIL_JOBS.includes(kind)) return
    const text = MESSAGES[config.brand.language]
    await notifyOperator(platform, tx, {
      about: `dead:${kind}:${clock.now().slice(0, 10)}`,
      title: text.title(kind),
      before: [text.before(attempts)],
      facts: [[text.lastError, error.slice(0, 500)]],
      button: { label: text.button, url: `${config.urls.frontend}/run/activity?view=jobs` },
    })
  })
}
