/**
 * Emails to the operator about cases that need a human decision. Each case is emailed once, even if
 * it is found repeatedly.
 */
import './tables.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { composeEmail, type EmailParts } from './email.ts'
import { sendMail } from './mail.ts'

export type OperatorNotice = Omit<EmailParts, 'to' | 'subject' | 'replyTo'> & {
  /** Key of the case, such as `dispute:du_…`. */
  about: string
  title: string
}

/** Sends the email in the caller's transaction, unless it was sent before. */
export async function notifyOperator(
  { config, jobs, clock }: Pick<Platform, 'config' | 'jobs' | 'clock'>,
  tx: Db,
  { about, title, ...parts }: OperatorNotice,
): Promise<void> {
  const isNew = await tx
    .insertInto('operator_notices')
    .values({ subject: about, sent_at: clock.now() })
    .onConflict((conflict) => conflict.column('subject').doNothing())
    .returning('subject')
    .executeTakeFirst()
  if (!isNew) return
  const to = config.mail.supportEmail
  await sendMail(
    { jobs, clock },
    tx,
    composeEmail(config.brand, { to, subject: `[${config.brand.name}] ${title}`, ...parts }),
    { isNotice: true },
  )
}
