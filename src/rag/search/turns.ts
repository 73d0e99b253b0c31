/**
 * Who ranks next. Ranking holds the thread that serves everybody, and one read of the sockets brings all that one user asks at once: his first
 * search ranks at once, each further one in a later turn of the event loop, when those of others have come to their ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A search ends within it, also with its statements to a database elsewhere. Nobody waits longer: others may be with a vendor. */
const OTHERS_MS = 5

/** `last`: of his turns the last that was asked for, until a turn of the event loop after its end. */
type Turn = { searches: number; last: Promise<void> | null }

export function createTurns({ othersMs = OTHERS_MS } = {}) {
  const users = new Map<string, Turn>()
  /** Users of whom one search is under way. Who has more is not waited for: two of those would wait for each other, and the thread for both. */
  let single = 0
  const waiting = new Set<() => void>()

  return {
    /** Until it ends others, of whom one search went before, wait for this one. */
    async during<T>(userId: string, search: () => Promise<T>): Promise<T> {
      const mine = turnOf(userId)
      count(mine, 1)
      try {
        return await search()
      } finally {
        count(mine, -1)
        tidy(userId, mine)
      }
    },

    /** Runs what ranks for the user when it is its turn. */
    take<T>(userId: string, rank: () => Promise<T>): Promise<T> {
      const mine = turnOf(userId)
      const ranked =
        mine.last === null ? rank() : mine.last.then(() => afterOthers(mine)).then(rank)
      const last = ranked.then(
        () => undefined,
        () => undefined,
      )
      mine.last = last
      void last.then(nextTurn).then(() => {
        if (mine.last === last) mine.last = null
        tidy(userId, mine)
      })
      return ranked
    },
  }

  function turnOf(userId: string): Turn {
    const mine = users.get(userId) ?? { searches: 0, last: null }
    users.set(userId, mine)
    return mine
  }

  function count(mine: Turn, change: 1 | -1): void {
    if (mine.searches === 1) single--
    mine.searches += change
    if (mine.searches === 1) single++
    for (const look of waiting) look()
  }

  function tidy(userId: string, mine: Turn): void {
    if (mine.searches === 0 && mine.last === null) users.delete(userId)
  }

  async function afterOthers(mine: Turn): Promise<void> {
    await nextTurn()
    const areOthers = () => single > (mine.searches === 1 ? 1 : 0)
    if (!areOthers()) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const look = () => {
      if (!areOthers()) resolve()
    }
    const timer = setTimeout(resolve, othersMs)
    waiting.add(look)
    await ended
    waiting.delete(look)
    clearTimeout(timer)
  }
}
