// One error type for every failure of a vendor: whether to retry, whether another vendor may
// answer, and what the caller may read.

export type VendorFailure =
  /** No connection, or it broke before an answer. */
  | 'unreachable'
  | 'timeout'
  /** 429, or the vendor says it is overloaded. */
  | 'limited'
  /** 5xx. */
  | 'broken'
  /** An unusable answer: no JSON, a wrong shape, or a stream without the vendor's end mark. */
  | 'nonsense'
  /** 401, 403: our key. */
  | 'unauthorized'
  /** 404: no such model. */
  | 'unknown-model'
  /** Other 4xx: the request itself, which no other vendor would accept either. */
  | 'refused'

/** The same vendor may succeed on a retry. */
const RETRYABLE = new Set<VendorFailure>([
  'unreachable',
  'timeout',
  'limited',
  'broken',
  'nonsense',
])
/** Another vendor may succeed. */
const MOVABLE = new Set<VendorFailure>([...RETRYABLE, 'unauthorized', 'unknown-model'])

/** A failure of a vendor. `message` is for the operator and never contains a key. */
export class VendorError extends Error {
  /** Set by the caller of the vendor. */
  vendor: string | null = null
  readonly failure: VendorFailure
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null
  /** The vendor's Retry-After; null without one. */
  readonly retryAfterMs: number | null
  /** The vendor's own words about a rejected request, safe to show the caller. */
  readonly explanation: string | null
  /** OpenAI's code, for every vendor: `context_length_exceeded`; null without one. */
  readonly code: string | null
  /** The rejected parameter, if the vendor names it. */
  readonly param: string | null
  /** The vendor took the request and fell silent: it read the prompt and will bill it. */
  readonly isUnanswered: boolean
  /** Rejected here, on the vendor's behalf: no request was sent, so its health is unknown. */
  readonly isUnsent: boolean
  /** A reused connection broke, which is no evidence about the vendor's health. */
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
      isUnsent?: boolean
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
    this.isUnsent = more.isUnsent ?? false
    this.isStale = more.isStale ?? false
  }

  get isRetryable(): boolean {
    return RETRYABLE.has(this.failure)
  }

  get isMovable(): boolean {
    return MOVABLE.has(this.failure)
  }
}

/** A sandboxed vendor closed itself because a proxy forwarded requests to it. */
export const SANDBOX_CLOSED = 'sandbox_closed'

/** Agents shorten their history on this code. */
export const CONTEXT_EXCEEDED = 'context_length_exceeded'

/**
 * Returns true when a vendor reports that a prompt exceeds the model's context: OpenAI and similar
 * servers, Anthropic ("prompt is too long: 204525 tokens > 200000 maximum"), Gemini ("The input
 * token count (1200000) exceeds the maximum …").
 */
export function isContextExceeded(code: string, message: string): boolean {
  return (
    /^(context_length_exceeded|exceed_context_size_error)$/.test(code) ||
    /maximum (context|prompt) length|context length is only|exceeds? the (available )?context (window|size|length)|prompt is too long|exceeds? context limit|input token count\b.*\bexceeds/i.test(
      message,
    )
  )
}

/** A failure inside a stream or a 2xx body; `isRefused`: the request is at fault. */
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

/** The vendor cannot serve the request; as a fallback it is skipped. */
export function createRefusal(explanation: string, param: string | null = null): VendorError {
  return new VendorError('refused', explanation, {
    status: 400,
    explanation,
    param,
    isUnsent: true,
  })
}
