import type { ProblemCode } from '#app/problems.ts'
import { translateProblem, translateSentence } from '../language/problem-text.ts'
import { t } from '../language/text.ts'
import type { Challenge } from './proof.ts'
import type { Issue } from './types.ts'

/**
 * A failed request. `status` 0: no response, because the browser is offline or the service is
 * down.
 */
export class ApiProblem extends Error {
  readonly status: number
  /** The service's stable error code; null when a proxy replied. */
  readonly code: ProblemCode | null
  /** The vendor's own reason for rejecting the request. */
  readonly reason: string | null
  readonly issues: Issue[]
  readonly retryAfterS: number | null
  readonly requestId: string | null
  /** The challenge of a `proof_required`. */
  readonly challenge: Challenge | null

  constructor(
    status: number,
    message: string,
    more: Partial<
      Pick<ApiProblem, 'code' | 'reason' | 'issues' | 'retryAfterS' | 'requestId' | 'challenge'>
    > = {},
  ) {
    super(message)
    this.name = 'ApiProblem'
    this.status = status
    this.code = more.code ?? null
    this.reason = more.reason ?? null
    this.issues = more.issues ?? []
    this.retryAfterS = more.retryAfterS ?? null
    this.requestId = more.requestId ?? null
    this.challenge = more.challenge ?? null
  }
}

/**
 * Parses the error shapes of the service: `detail` as a sentence or as a list of issues, and under
 * /v1 the shape of OpenAI's API.
 */
export function parseProblem(
  status: number,
  body: unknown,
  headers: Headers = new Headers(),
): ApiProblem {
  const fields: Fields = typeof body === 'object' && body !== null ? readFields(body) : {}
  const { detail } = fields
  const more = {
    code: parseCode(fields.code),
    reason: typeof fields.reason === 'string' ? fields.reason : null,
    retryAfterS: parseRetryDelay(headers.get('retry-after')),
    requestId: headers.get('x-request-id'),
    challenge:
      fields.code === 'proof_required'
        ? ((fields.challenge as Challenge | undefined) ?? null)
        : null,
  }

  if (Array.isArray(detail)) {
    const issues = detail
      .filter(isIssue)
      .map((issue) => ({ ...issue, msg: translateSentence('issues', issue.msg) }))
    return new ApiProblem(
      status,
      issues.map((issue) => issue.msg).join(' ') || describeStatus(status),
      {
        ...more,
        issues,
      },
    )
  }
  // Internal errors have no useful sentence, and replies without a code come from a proxy.
  const isForPeople =
    typeof detail === 'string' && more.code !== null && more.code !== 'internal_error'
  return new ApiProblem(
    status,
    isForPeople ? translateProblem(more.code, detail) : describeStatus(status),
    more,
  )
}

type Fields = { detail?: unknown; code?: unknown; reason?: unknown; challenge?: unknown }

function readFields(body: Fields & { error?: unknown }): Fields {
  const { error } = body
  if (typeof error !== 'object' || error === null) return body
  const { message, code, type } = error as { message?: unknown; code?: unknown; type?: unknown }
  return { detail: message, code: code ?? type }
}

/** Returns a code of this version or of a newer service. */
export function parseCode(code: unknown): ProblemCode | null {
  return typeof code === 'string' ? (code as ProblemCode) : null
}

/** Returns true for content that is private while a superuser views the account. */
export function isClosedInView(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.code === 'view_read_only'
}

export function createOfflineProblem(): ApiProblem {
  return new ApiProblem(0, t('Can’t reach the service. Check your connection and try again.'))
}

/**
 * Returns issues by field name: `{ email: 'Enter a valid email address' }`. Dots join nested
 * fields.
 */
export function fieldErrors(problem: unknown): Record<string, string> {
  if (!(problem instanceof ApiProblem)) return {}

  const errors: Record<string, string> = {}
  for (const { loc, msg } of problem.issues) {
    const field = loc.slice(1).join('.')
    if (field && !(field in errors)) errors[field] = msg
  }
  return errors
}

/** Returns the message for people, with the seconds to wait or the request ID. */
export function formatProblem(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return t('Something went wrong on this page. Reload it.')
  if (problem.status === 429 && problem.retryAfterS !== null) {
    return t('{0} Try again in {1} s.', endSentence(problem.message), problem.retryAfterS)
  }
  const quote =
    problem.status >= 500 && problem.requestId ? t(' (Request {0})', problem.requestId) : ''
  // The service's sentence is for programs: it names the vendor and the retry rule.
  if (problem.status >= 502 && problem.code?.startsWith('vendor_')) {
    return t('The model did not respond. Try again in a moment.{0}', quote)
  }
  return `${endSentence(problem.message)}${quote}`
}

export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function isIssue(value: unknown): value is Issue {
  return (
    typeof value === 'object' &&
    value !== null &&
    'msg' in value &&
    'loc' in value &&
    Array.isArray(value.loc)
  )
}

function parseRetryDelay(header: string | null): number | null {
  const n = header === null ? Number.NaN : Number(header)
  return Number.isFinite(n) && n >= 0 ? Math.ceil(n) : null
}

function describeStatus(status: number): string {
  if (status === 404) return t('Not found')
  if (status === 413) return t('The request is too large')
  if (status === 429) return t('Too many requests')
  if (status >= 500) return t('Something went wrong on our side. Try again in a moment')
  return t('The request was rejected')
}
