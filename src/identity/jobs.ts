import { HOUR_MS } from '#platform/clock.ts'
import { handleVerification } from './account/email-verification.ts'
import type { IdentityDeps } from './deps.ts'
import { forgetOldTokens } from './one-time-tokens.ts'
import { handleReset } from './passwords/password-reset.ts'
import { forgetOldSessions } from './sessions/sessions.ts'

export function handleIdentityJobs(deps: IdentityDeps): void {
  handleVerification(deps)
  handleReset(deps)
}

/** Removes what no one can use any more, every six hours; returns a function that stops it. */
export function startCleaning(deps: IdentityDeps): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const timer = setInterval(() => {
    Promise.all([forgetOldTokens(deps, deps.db, signal), forgetOldSessions(deps, signal)]).catch((error) =>
      deps.log.warn({ err: error }, 'old sessions and tokens were not removed'),
    )
  }, 6 * HOUR_MS).unref()
  return () => {
    stopping.abort()
    clearInterval(timer)
  }
}
