/** One line of the doctor's report. */
export type Line = { mark: 'ok' | 'sandbox' | 'off' | 'wrong'; name: string; says: string }

/** Time limit of one request to an outside service. */
export const ASK_TIMEOUT_MS = 8_000

/** Rejects when the work exceeds the time limit, even if its library has none. */
export async function inTime<T>(work: Promise<T>, timeoutMs = ASK_TIMEOUT_MS): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
