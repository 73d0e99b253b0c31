// Turns every failure of a vendor or the network into a VendorError. The trap: `explanation` has
// the vendor's own words only when the request was at fault; those on our account are logged.
import { asObject } from '#platform/json.ts'
import type { ReplyHeaders, Vendor } from './vendor.ts'
import {
  CONTEXT_EXCEEDED,
  isContextExceeded,
  SANDBOX_CLOSED,
  VendorError,
  type VendorFailure,
} from './vendor-error.ts'

export function createReplyFailure(
  vendor: Vendor,
  status: number,
  headers: ReplyHeaders,
  text: string,
): VendorError {
  const body = parseJsonOrNull(text)
  const vendorMessage = readMessage(body)
  const failure = classifyFailure(status, text)
  const retryAfterMs =
    failure === 'limited' || status >= 500
      ? (parseRetryDelay(headers) ?? readRetryInfo(body))
      : null
  if (status === 403 && asObject(body)?.code === SANDBOX_CLOSED)
    return new VendorError(failure, 'the sandbox is closed', {
      status,
      explanation: vendorMessage,
      code: SANDBOX_CLOSED,
    })
  const explanation =
    failure === 'refused' || failure === 'unknown-model' ? removeSecrets(vendorMessage) : null
  return new VendorError(
    failure,
    `answered ${status}: ${removeSecrets(vendorMessage) ?? 'nothing readable'}`,
    {
      status,
      retryAfterMs,
      explanation,
      ...(failure === 'refused' ? readCode(vendor, body, vendorMessage ?? '') : {}),
    },
  )
}

/** Gemini may wrap it in a list, some send plain text, Mistral and vLLM have no `error`. */
function readMessage(body: unknown): string | null {
  const outer = asObject(Array.isArray(body) ? body[0] : body)
  const { error } = outer ?? {}
  const vendorMessage = typeof error === 'string' ? error : asObject(error)?.message
  return readWords(vendorMessage) ?? readWords(outer?.message) ?? readWords(outer?.detail)
}

/** Reads a text, or wrong members: `[{loc: ['body', 'store'], msg: 'Extra inputs …'}]`. */
function readWords(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  const list = Array.isArray(value) ? value : asObject(value)?.detail
  if (!Array.isArray(list)) return null
  const words = list.slice(0, 5).flatMap((one) => {
    const { loc, msg } = asObject(one) ?? {}
    if (typeof msg !== 'string') return []
    return [Array.isArray(loc) ? `${loc.filter((part) => part !== 'body').join('.')}: ${msg}` : msg]
  })
  return words.length === 0 ? null : words.join('; ')
}

/** Reads OpenAI's code, on which clients act; others' only where they mean the same. */
function readCode(
  { dialect }: Vendor,
  body: unknown,
  vendorMessage: string,
): { code?: string; param?: string } {
  const error = asObject(asObject(body)?.error)
  const code = String(error?.code ?? error?.type ?? '')
  const param =
    dialect === 'openai' && typeof error?.param === 'string'
      ? { param: error.param.slice(0, 200) }
      : {}
  if (isContextExceeded(code, vendorMessage)) return { code: CONTEXT_EXCEEDED, ...param }
  const isWord =
    dialect === 'openai' &&
    typeof error?.code === 'string' &&
    /^[a-z][a-z0-9_]{2,63}$/.test(error.code)
  return isWord ? { code, ...param } : param
}

function classifyFailure(status: number, text: string): VendorFailure {
  // OpenAI sends 429 for an account without credit, which does not recover by waiting.
  if (status === 429) return text.includes('insufficient_quota') ? 'unauthorized' : 'limited'
  if (status === 503 || status === 529) return 'limited'
  if (status === 408 || status === 504) return 'timeout'
  // xAI sends 400 for a wrong key; OpenRouter sends 403 for a prompt that a moderator flags.
  if (status === 400 && text.includes('Incorrect API key provided')) return 'unauthorized'
  if (status === 403 && text.includes('"flagged_input"')) return 'refused'
  if (status === 401 || status === 402 || status === 403) return 'unauthorized'
  if (status === 404) return 'unknown-model'
  return status >= 400 && status < 500 ? 'refused' : 'broken'
}

export function createWireFailure(error: Error, { isStale = false } = {}): VendorError {
  const code = String((error as { code?: unknown }).code ?? error.name)
  const isTimeout = code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT'
  const words = `could not be reached or broke off (${code})`
  return new VendorError(isTimeout ? 'timeout' : 'unreachable', words, { isStale, cause: error })
}

/** Parses seconds or an HTTP date (RFC 9110, 10.2.3), or milliseconds in OpenAI's own header. */
export function parseRetryDelay(headers: ReplyHeaders, nowMs: number = Date.now()): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const header = headers['retry-after']
  if (typeof header !== 'string' || header.trim() === '') return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1_000 : null
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}

/** Reads Gemini's delay from the body: `{"@type": "…RetryInfo", "retryDelay": "12s"}`. */
function readRetryInfo(body: unknown): number | null {
  const error = asObject(asObject(Array.isArray(body) ? body[0] : body)?.error)
  if (!Array.isArray(error?.details)) return null
  for (const detail of error.details) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(String(asObject(detail)?.retryDelay))
    if (match) return Number(match[1]) * 1_000
  }
  return null
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Vendors repeat a wrong key in their answer, and name the operator's organization and project. */
export function removeSecrets(words: string): string
export function removeSecrets(words: string | null): string | null
export function removeSecrets(words: string | null): string | null {
  if (words === null) return null
  return words
    .slice(0, 1_000)
    .replace(/\b(sk|pk|AIza|xai|gsk)[-_A-Za-z0-9*.]{6,}/g, '[secret]')
    .replace(/\b(org|proj|acct)[-_](?=[A-Za-z0-9]*\d)[A-Za-z0-9]{8,}/g, '[id]')
    .replace(/\b(projects?(?:_number)?[:/= ]{1,2})\d{6,}/g, '$1[id]')
}
