import type { Instant } from '#platform/clock.ts'

/** What the operator was told of by mail, so that each matter is told once. */
type OperatorNoticesTable = { subject: string; sent_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    operator_notices: OperatorNoticesTable
  }
}

export type { OperatorNoticesTable }
