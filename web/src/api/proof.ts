/**
 * Proof of work: where strangers to an account have failed too often the service asks for some seconds of this computer's time
 * instead of refusing. It is solved without asking anybody. The browser's own PBKDF2 works off the page's thread.
 */
import type { Challenge } from 'altcha-lib/types'

export type { Challenge }

const AT_ONCE = 4

/** @returns what goes into `proof`; null where it cannot be solved, as on a page without https. */
export async function solveProof(challenge: Challenge): Promise<string | null> {
  // Few ever need it.
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
