/**
 * Solves the proof of work that the service requires after too many failed sign-ins. It takes some
 * seconds; the browser's PBKDF2 runs off the page's thread.
 */
import type { Challenge } from 'altcha-lib/types'

export type { Challenge }

const AT_ONCE = 4

/** @returns the value of `proof`; null when it cannot be solved, as on a page without https */
export async function solveProof(challenge: Challenge): Promise<string | null> {
  // Loaded on demand, because few visitors need it.
  const [{ solveChallenge }, { deriveKey }] = await Promise.all([
    import('altcha-lib'),
    import('altcha-lib/algorithms/web/pbkdf2'),
  ])
  const controller = new AbortController()
  const solver = async (counterStart: number) => {
    const options = { challenge, deriveKey, controller, counterStart, counterStep: AT_ONCE }
    const solution = await solveChallenge(options)
    if (solution === null) throw new Error('stopped')
    return solution
  }
  try {
    const solution = await Promise.any(Array.from({ length: AT_ONCE }, (_, index) => solver(index)))
    return btoa(JSON.stringify({ challenge, solution }))
  } catch {
    return null
  } finally {
    controller.abort()
  }
}
