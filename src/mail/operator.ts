/**
 * Emails to the operator about cases that need a human decision. Each case is emailed once, even if
 * it is found repeatedly.
 */
import './tables.ts'
import type { Config } from '#config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { composeEmail, type Email, type EmailParts } from './email.ts'
import { sendMail } from './mail.ts'

type OperatorEmail = Omit<EmailParts, 'to' | 'locale' | 'subject'> & { title: string }

export type OperatorNotice = Omit<OperatorEmail, 'replyTo'> & {
  /** Key of the case, such as `dispute:du_…`. */
  about: string
}

/** Composes an email to the operator. Its texts are in the brand's language. */
export function composeOperatorEmail(
  { brand, mail }: Pick<Config, 'brand' | 'mail'>,
  { title, ...parts }: OperatorEmail,
): Email {
  return composeEmail(brand, {
    to: mail.supportEmail,
    locale: brand.language,
    subject: `[${brand.name}] ${title}`,
    ...parts,
  })
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
  await sendMail({ jobs }, tx, composeOperatorEmail(config, { title, ...parts }), {
    isNotice: true,
  })
}
