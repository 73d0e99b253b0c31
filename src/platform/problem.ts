// Guards the two voices of a failure: what the caller reads, and what the operator finds in the log.
// One thing to know: a Problem is expected and becomes a reply; any other throw is a bug and becomes a 500 with an id.

/** One entry of a 422's `detail`; `loc` starts with body, query, path or header. */
export type Issue = { loc: (string | number)[]; msg: string; type: string }

export type ProblemOptions = {
  headers?: Record<string, string>
  /** The reply's body carries the code, so that clients can branch on it. */
  tellsCode?: boolean
  /** Further members of the reply's body. */
  extra?: Record<string, unknown>
  /** For the log alone. */
  cause?: unknown
}

export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly detail: string | Issue[]
  readonly headers: Record<string, string>
  readonly tellsCode: boolean
  readonly extra: Record<string, unknown>

  constructor(code: string, status: number, detail: string | Issue[], options: ProblemOptions = {}) {
    super(
      typeof detail === 'string' ? detail : detail.map((issue) => `${issue.loc.join('.')}: ${issue.msg}`).join('; '),
      {
        cause: options.cause,
      },
    )
    this.name = 'Problem'
    this.code = code
    this.status = status
    this.detail = detail
    this.headers = options.headers ?? {}
    this.tellsCode = options.tellsCode ?? false
    this.extra = options.extra ?? {}
  }
}

/** A 422 with one issue, as `invalid(['body', 'email'], 'must be an email address')`. */
export function invalid(loc: (string | number)[], msg: string, type = 'value_error'): Problem {
  return new Problem('validation_failed', 422, [{ loc, msg, type }])
}
