/** Mails to the operator about what only a person can settle. Each matter is told once, however often it is met. */
import './tables.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { composeEmail, type EmailParts } from './email.ts'
import { sendMail } from './mail.ts'

export type OperatorNotice = Omit<EmailParts, 'to' | 'subject' | 'replyTo'> & {
  /** Names the matter, as `dispute:du_…`. */
  about: string
  title: string
}

/** With the rest of the transaction. */
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
    { jobs },
    tx,
    composeEmail({ to, subject: `[${config.brand}] ${title}`, ...parts }),
    { isNotice: true },
  )
}
