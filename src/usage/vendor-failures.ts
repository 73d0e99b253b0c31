/**
 * The last failure of each vendor's endpoints, also of attempts whose call another vendor answered.
 * Reads only the newest calls, because their table is the largest of all.
 */
import './tables.ts'
import type { Db } from '#platform/db/db.ts'

export type EndpointFailure = {
  endpoint: string
  at: string
  /** Why the attempt failed: `timeout`, `limited`; `cut` after the answer had begun. */
  failure: string
  /** Null when another vendor answered the call. */
  model: string | null
  user_id: string
  request_id: string | null
  /** The error of the call, and the vendor's own words; null when another vendor answered it. */
  error_code: string | null
  error_detail: string | null
}

/** Reading them takes about 20 ms. */
const CALLS_MAX = 5_000
const FAILED_MAX = 500

/** Returns the newest failure of each endpoint among the newest calls, newest first. */
export async function listEndpointFailures(
  db: Db,
  callsMax: number = CALLS_MAX,
): Promise<EndpointFailure[]> {
  const rows = await db
    .selectFrom((e) =>
      e
        .selectFrom('usage_records')
        .select([
          'created_at',
          'user_id',
          'model',
          'tried',
          'outcome',
          'error_code',
          'error_detail',
          'request_id',
        ])
        .orderBy('created_at', 'desc')
        .limit(callsMax)
        .as('newest'),
    )
    .selectAll()
    .where((e) => e.or([e('outcome', '=', 'failed'), e('tried', 'like', '%,%')]))
    .orderBy('created_at', 'desc')
    .limit(FAILED_MAX)
    .execute()

  const failures = new Map<string, EndpointFailure>()
  for (const row of rows) {
    for (const { endpoint, outcome, isLast } of parseSteps(row.tried)) {
      const isFinal = isLast && row.outcome === 'failed'
      if (endpoint === '' || UNFAILED.includes(outcome) || failures.has(endpoint)) continue
      failures.set(endpoint, {
        endpoint,
        at: row.created_at,
        failure: outcome,
        model: isFinal ? row.model : null,
        user_id: row.user_id,
        request_id: row.request_id,
        error_code: isFinal ? row.error_code : null,
        error_detail: isFinal ? row.error_detail : null,
      })
    }
  }
  return [...failures.values()]
}

/** Outcomes of steps that are no failures; `resting` endpoints were skipped. */
const UNFAILED = ['ok', 'resting']

/**
 * Parses `openai#1:limited,anthropic:ok,cut`; the last step comes first. A `cut` is a failure of the
 * endpoint before it.
 */
function parseSteps(tried: string) {
  let endpoint = ''
  const steps = tried === '' ? [] : tried.split(',')
  const parsed = steps.map((step, index) => {
    const colon = step.lastIndexOf(':')
    if (colon !== -1) endpoint = step.slice(0, colon)
    return { endpoint, outcome: step.slice(colon + 1), isLast: index === steps.length - 1 }
  })
  return parsed.toReversed()
}
