/**
 * Links what was recorded into the chains of the audit log, after the fact and in slices: a transaction that records waits for nobody, and an
 * entry is covered by its chain a second later. Every process that runs jobs does it; a chain is one's at a time.
 */
import type { Db } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { linkSlice, lookAtHeads } from './audit.ts'

const EVERY_MS = 1_000

/** Links all that is there. @returns how many entries are none that this service wrote, and how many chains were set back by somebody else. */
export async function linkEntries(db: Db): Promise<{ forged: number; setBack: number }> {
  const found = { forged: 0, setBack: 0 }
  let after: { at: string; id: string } | undefined
  for (;;) {
    const slice = await linkSlice(db, after)
    found.forged += slice.forged
    found.setBack = Math.max(found.setBack, slice.setBack)
    if (slice.seen < SLICE_ROWS) return found
    after = slice.last
  }
}

/** Every second; returns what ends it, when all that is there is linked. */
export function startLinking({ db, log }: { db: Db; log: Log }): () => Promise<void> {
  let running: Promise<void> | null = null
  let told = { forged: 0, setBack: 0 }
  let hasLooked = false
  const run = async () => {
    try {
      if (!hasLooked) await lookAtHeads(db)
      hasLooked = true
      const { forged, setBack } = await linkEntries(db)
      if (forged > told.forged)
        log.error({ entries: forged }, 'entries of the audit log were not written by this service: see audit verify')
      if (setBack > told.setBack)
        log.error(
          { chains: setBack },
          'entries of the audit log were taken away: nothing more is linked into their chains',
        )
      told = { forged, setBack }
    } catch (err) {
      log.warn({ err }, 'entries of the audit log were not linked; tried again in a second')
    }
  }
  const tick = () => (running ??= run().finally(() => (running = null)))
  const timer = setInterval(() => void tick(), EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await running
    await tick()
  }
}
