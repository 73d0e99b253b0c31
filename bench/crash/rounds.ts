import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../lib/service.ts'
import { inspect, type Journal, walk } from './walk.ts'

export type Round = {
  killedAfterMs: number
  acknowledged: string
  wrong: string[]
  restartMs: number
}

/**
 * Kills the service with SIGKILL at a random moment of a customer's walk, restarts it and inspects
 * its data.
 */
export async function crashRounds(count: number, walkMs = 4_000): Promise<Round[]> {
  const rounds: Round[] = []
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-crash-'))
  const off = {
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AUTH: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_RAG: 'off',
  }
  // Uses the same ports after the restart, so that an unfinished hosted payment can return.
  try {
    for (let round = 0; round < count; round++) {
      const service = await startService(off, { dataDir })
      const places = { api: service.url, store: `http://127.0.0.1:${service.storefrontPort}` }
      const walking = walk(places)
      const killedAfterMs = Math.round(walkMs * ((round + Math.random()) / count))
      await new Promise((resolve) => setTimeout(resolve, killedAfterMs))
      service.child.kill('SIGKILL')
      await new Promise((resolve) => service.child.once('exit', resolve))
      const journal = await walking

      const again = await startService(off, { dataDir })
      const wrong = await inspect(
        { api: again.url, store: `http://127.0.0.1:${again.storefrontPort}` },
        journal,
      ).catch((error: Error) => [error.message])
      await again.stop()
      rounds.push({
        killedAfterMs,
        acknowledged: acknowledged(journal),
        wrong,
        restartMs: Math.round(again.startMs),
      })
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  return rounds
}

function acknowledged(journal: Journal): string {
  const done = [
    journal.registered && 'account',
    journal.contacted && 'contact',
    journal.verified && 'verified',
    journal.fullName && 'name',
    journal.bought && 'Pro',
    journal.keys.length > 0 && `${journal.keys.length} keys`,
    journal.documents.length > 0 && `${journal.documents.length} documents`,
    journal.purchased && 'purchase',
  ]
  return done.filter(Boolean).join(', ') || 'nothing'
}
