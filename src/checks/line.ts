import { Unmigrated } from '#platform/db/migrate.ts'
import { Missing } from '#platform/db/open.ts'
import type { Platform } from '#platform/platform.ts'

/** The outcome of one check, in words for the operator. */
export type Line = { mark: 'ok' | 'sandbox' | 'off' | 'wrong'; name: string; says: string }

/** Returns functions that create the lines of one check. */
export function createLines(name: string) {
  const marked = (mark: Line['mark']) => (says: string) => ({ mark, name, says }) satisfies Line
  const [off, wrong] = [marked('off'), marked('wrong')]
  const failed = (error: unknown, says: string) => (isToCome(error) ? off : wrong)(says)
  return { ok: marked('ok'), off, wrong, sandbox: marked('sandbox'), failed }
}

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

/** Opens the platform when a check needs it; commands run also without a database. */
export type OpenPlatform = () => Promise<Platform>

/** The next start of the service creates or migrates the database. */
export const isToCome = (error: unknown) => error instanceof Missing || error instanceof Unmigrated
