// Every way in which a vendor fails, as one error: what may be retried, what another may answer, what the caller may read.

export type VendorFailure =
  /** No connection, or it broke before an answer. */
  | 'unreachable'
  | 'timeout'
  /** 429, or the vendor says it is overloaded. */
  | 'limited'
  /** 5xx. */
  | 'broken'
  /** An answer that is none: no JSON, wrong shape, a stream without the vendor's end mark. */
  | 'nonsense'
  /** 401, 403: our key. */
  | 'unauthorized'
  /** 404: no such model. */
  | 'unknown-model'
  /** Other 4xx: the request itself, which no other vendor would mend. */
  | 'refused'

/** Worth asking the same vendor again. */
const RETRYABLE = new Set<VendorFailure>([
  'unreachable',
  'timeout',
  'limited',
  'broken',
  'nonsense',
])
/** Worth asking another vendor. */
const MOVABLE = new Set<VendorFailure>([...RETRYABLE, 'unauthorized', 'unknown-model'])

/** Every way in which a vendor fails, in one type. `message` is for the operator; it never holds a key. */
export class VendorError extends Error {
  /** Set by the caller of the vendor. */
  vendor: string | null = null
  readonly failure: VendorFailure
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null
  /** The vendor's Retry-After; null without one. */
  readonly retryAfterMs: number | null
  /** The vendor's own words on a refused request, safe to show the caller. */
  readonly explanation: string | null
  /**
   * OpenAI's code for the refusal, for every vendor: `context_length_exceeded`; null without one.
   */
  readonly code: string | null
  /** The parameter that was refused, where the vendor names it. */
  readonly param: string | null
  /** The vendor had the request and fell silent over it: it has read the prompt, and will say so on its bill. */
  readonly isUnanswered: boolean
  /** Refused here, on the vendor's behalf: it was not asked, and nothing is known of its health. */
  readonly isUnasked: boolean
  /** A connection that was kept open broke when it was used again: that says nothing of the vendor's health. */
  readonly isStale: boolean

  constructor(
    failure: VendorFailure,
    message: string,
    more: {
      status?: number
      retryAfterMs?: number | null
      explanation?: string | null
      code?: string | null
      param?: string | null
      isUnanswered?: boolean
      isUnasked?: boolean
      isStale?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'VendorError'
    this.failure = failure
    this.status = more.status ?? null
    this.retryAfterMs = more.retryAfterMs ?? null
    this.explanation = more.explanation ?? null
    this.code = more.code ?? null
    this.param = more.param ?? null
    this.isUnanswered = more.isUnanswered ?? false
    this.isUnasked = more.isUnasked ?? false
    this.isStale = more.isStale ?? false
  }

  get isRetryable(): boolean {
    return RETRYABLE.has(this.failure)
  }

  get isMovable(): boolean {
    return MOVABLE.has(this.failure)
  }
}

/** The code of a sandboxed vendor that stopped answering because a proxy forwarded requests to it. */
export const SANDBOX_CLOSED = 'sandbox_closed'

/** Agents shorten their history on this code. */
export const CONTEXT_EXCEEDED = 'context_length_exceeded'

/**
 * Whether a vendor says that a prompt is longer than the model reads: OpenAI and servers like it, Anthropic ("prompt is
 * too long: 204525 tokens > 200000 maximum"), Gemini ("The input token count (1200000) exceeds the maximum …").
 */
export function isContextExceeded(code: string, message: string): boolean {
  return (
    /^(context_length_exceeded|exceed_context_size_error)$/.test(code) ||
    /maximum (context|prompt) length|context length is only|exceeds? the (available )?context (window|size|length)|prompt is too long|exceeds? context limit|input token count\b.*\bexceeds/i.test(
      message,
    )
  )
}

/** A failure that a vendor reports inside a stream or an otherwise successful body; `isRefused`: the request is at fault. */
export function createReportedFailure(
  type: string,
  message: string,
  isRefused = false,
): VendorError {
  const isTooLong = isContextExceeded(type, message)
  if (isTooLong || isRefused) {
    const code = isTooLong ? CONTEXT_EXCEEDED : type
    return new VendorError('refused', `reported ${type}: ${message}`, {
      explanation: message,
      code,
    })
  }
  const limited = /overloaded|rate_limit|resource_exhausted|unavailable|429|503|529/i.test(type)
  return new VendorError(limited ? 'limited' : 'broken', `reported ${type}: ${message}`)
}

/** For a vendor that cannot: as a fallback it is passed over then. */
export function createRefusal(explanation: string, param: string | null = null): VendorError {
  return new VendorError('refused', explanation, {
    status: 400,
    explanation,
    param,
    isUnasked: true,
  })
}
