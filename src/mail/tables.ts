import type { Instant } from '#platform/clock.ts'

/** Emails sent to the operator, so that each case is reported once. */
type OperatorNoticesTable = { subject: string; sent_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    operator_notices: OperatorNoticesTable
  }
}

export type { OperatorNoticesTable }
