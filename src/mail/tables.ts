import type { Instant } from '#platform/clock.ts'

/** Emails sent to the operator, so that each case is reported once. */
type OperatorNoticesTable = { subject: string; sent_at: Instant }

export const EMAIL_STATES = ['waiting', 'sent', 'failed'] as const
/** `failed`: the last attempt failed; a job may try again. */
export type EmailState = (typeof EMAIL_STATES)[number]

type EmailsTable = {
  /** The user with the address; the id of the email when the sender knew only the address. */
  owner: string
  /** The id of its job, or of its message. */
  id: string
  address: string
  /** The address in lower case. */
  address_key: string
  subject: string
  state: EmailState
  /** The words of the mail server after a failed attempt. */
  error: string | null
  created_at: Instant
  /** Null until the mail server has accepted it. */
  sent_at: Instant | null
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    operator_notices: OperatorNoticesTable
    emails: EmailsTable
  }
}

export type { EmailsTable, OperatorNoticesTable }
