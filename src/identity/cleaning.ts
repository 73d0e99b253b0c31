import { HOUR_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { forgetOldDevices } from './known-devices.ts'
import { forgetOldTokens } from './one-time-tokens.ts'
import { forgetOldSessions } from './sessions/sessions.ts'

/** Removes what no one can use any more, every six hours; returns a function that stops it. */
export function startCleaning({ db, clock, log }: Pick<Platform, 'db' | 'clock' | 'log'>): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const timer = setInterval(() => {
    Promise.all([
      forgetOldTokens({ clock }, db, signal),
      forgetOldSessions({ db, clock }, signal),
      forgetOldDevices({ db, clock }, signal),
    ]).catch((error) => log.warn({ err: error }, 'old sessions, tokens and devices were not removed'))
  }, 6 * HOUR_MS).unref()
  return () => {
    stopping.abort()
    clearInterval(timer)
  }
}
