// Turns a vendor's failure into the Problem that the caller reads. It contains the vendor's own
// words only when the request was at fault; everything else is logged for the operator.
import { Problem } from '#platform/problem.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { type AttemptLog, buildAnswerHeaders, joinSteps } from './attempt-log.ts'
import { aiProblem } from './problems.ts'
import { removeSecrets } from './vendors/failures.ts'
import { CONTEXT_EXCEEDED, SANDBOX_CLOSED, VendorError } from './vendors/vendor-error.ts'

/** Returns other errors unchanged. */
export function vendorProblem(
  { log }: { log: Log },
  error: unknown,
  attemptLog: AttemptLog,
): unknown {
  if (!(error instanceof VendorError)) return error
  const { failure } = error
  const vendor = error.vendor ?? attemptLog.vendor ?? ''
  if (failure !== 'refused' && failure !== 'unknown-model')
    log.warn({ err: error, vendor, tried: attemptLog.steps }, 'a model vendor failed')
  const headers: Record<string, string> = { ...buildAnswerHeaders(attemptLog) }
  const options = { headers, cause: error }
  const reason = error.explanation ?? 'no reason given'
  switch (failure) {
    case 'limited':
      headers['Retry-After'] = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 5_000) / 1_000)))
      return aiProblem('vendor_overloaded', { vendor, seconds: headers['Retry-After'] }, options)
    case 'timeout':
      return aiProblem('vendor_timeout', { vendor, tried: joinSteps(attemptLog) }, options)
    case 'unknown-model':
      return aiProblem('model_not_found', { vendor, reason }, options)
    case 'refused': {
      const extra = {
        reason: error.explanation,
        ...(error.param === null ? {} : { param: error.param }),
      }
      if (error.isUnsent)
        return aiProblem('request_not_supported', { vendor, reason }, { ...options, extra })
      return aiProblem(
        error.code === CONTEXT_EXCEEDED ? CONTEXT_EXCEEDED : 'vendor_refused',
        { vendor, reason },
        { ...options, alias: error.code ?? undefined, extra },
      )
    }
    case 'unauthorized':
      // Prevents the retry that OpenAI's clients make after a 502.
      headers['x-should-retry'] = 'false'
      if (error.code === SANDBOX_CLOSED)
        return aiProblem('vendor_sandbox_closed', { reason }, options)
      return aiProblem('vendor_unauthorized', { vendor }, options)
    default:
      return aiProblem('vendor_failed', { vendor }, options)
  }
}

const DETAIL_LENGTH_MAX = 500

/** Returns the vendor's words without secrets; null for a rejected key, the operator's matter. */
export function readErrorDetail(problem: unknown): string | null {
  const error = problem instanceof Problem ? problem.cause : null
  if (!(error instanceof VendorError) || error.failure === 'unauthorized') return null
  // PostgreSQL stores neither NUL nor lone surrogates.
  const words = removeSecrets(error.message).replaceAll('\0', '')
  return words.slice(0, DETAIL_LENGTH_MAX).toWellFormed()
}
