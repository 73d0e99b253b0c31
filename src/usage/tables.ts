import type { Instant } from '#platform/clock.ts'
import type { CallParameters } from './parameters.ts'
import type { UsageOutcome, UsageRecord } from './record.ts'

/** The plan's budget in which a call counts. `nanos` is its limit in nanodollars; null: no limit. */
export type PlanPeriod = { name: string; end: Instant; nanos: number | null }

/** One row per call, including failed calls. */
type UsageRecordsTable = {
  user_id: string
  id: string
  key_id: string
  tier: string
  route: string
  vendor: string
  model: string
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  reasoning_tokens: number
  /** Nanodollars (1e-9 US dollars), so that sums stay exact. */
  cost_nanos: number
  latency_ms: number
  first_token_ms: number | null
  attempts: number
  tried: string
  outcome: UsageOutcome
  status: number
  error_code: string | null
  error_detail: string | null
  request_id: string | null
  vendor_request_id: string | null
  end_user: string
  labels: string
  /** Null for models that do not chat and for answers from the cache. */
  parameters_json: CallParameters | null
  is_estimated: boolean
  created_at: string
}

/** Sums of records by day, so that a year is fast to read. */
type UsageDaysTable = {
  user_id: string
  day: string
  key_id: string
  model: string
  vendor: string
  tier: string
  outcome: UsageOutcome
  end_user: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nanos: number
}

/**
 * Used and reserved amounts of a budget. `scope` is '' for the user, or the id of a key. `period` is
 * `2026-11-16/week` or, for a paid billing period, `2026-11-16T09:30:00.000Z/slice`.
 */
type UsageBudgetsTable = {
  user_id: string
  scope: string
  period: string
  used_tokens: number
  used_nanos: number
  reserved_tokens: number
  reserved_nanos: number
  /** The level of the last alert; 0: no alert. */
  alerted_nanos: number
  /** The plan's dollars at that alert. */
  alerted_limit_nanos: number
}

/** Alerts that a share of a plan's dollars is used: one per period, percentage and limit. */
type UsageAlertsTable = {
  user_id: string
  period: string
  renews_at: string
  percent: number
  limit_nanos: number
  used_nanos: number
  created_at: string
  /** Null until the email is enqueued. */
  sent_at: string | null
}

/** The amounts that a running call has reserved on each of its budgets. Another node releases them if the process dies. */
type UsageReservationsTable = {
  user_id: string
  id: string
  node_id: string
  budgets_json: { scope: string; period: string }[]
  tokens: number
  nanos: number
}

/** A call that runs for longer than a second: the record to write if its process dies. */
type UsageOpenCallsTable = {
  user_id: string
  id: string
  node_id: string
  plan_json: PlanPeriod
  record_json: UsageRecord
}

type UsageNodesTable = { node_id: string; seen_at: string }

/** Anonymous monthly sums of removed days. */
type UsageArchiveTable = {
  month: string
  model: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cost_nanos: number
}

/** Sums of all users' days, split over several rows (totals.ts). */
export type UsageTotalsTable = Omit<UsageDaysTable, 'user_id' | 'key_id' | 'end_user'> & {
  slot: number
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    usage_records: UsageRecordsTable
    usage_days: UsageDaysTable
    usage_totals: UsageTotalsTable
    usage_budgets: UsageBudgetsTable
    usage_alerts: UsageAlertsTable
    usage_reservations: UsageReservationsTable
    usage_open_calls: UsageOpenCallsTable
    usage_nodes: UsageNodesTable
    usage_archive: UsageArchiveTable
  }
}

export type { UsageDaysTable, UsageRecordsTable }
