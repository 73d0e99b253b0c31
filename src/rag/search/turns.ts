/**
 * Who ranks next. Ranking holds the thread that serves everybody, and one read of the sockets brings all that one user asks at once: his first
 * search ranks at once, each further one in a later turn of the event loop, when those of others have come to their ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A search over SQLite ends within them. Nobody waits longer: those of others may be with a vendor, or with a database elsewhere. */
const TURNS_MAX = 4

/** `last`: of his turns the last that was asked for, until a turn of the event loop after its end. */
type Turn = { searches: number; last: Promise<void> | null }

export type Turns = ReturnType<typeof createTurns>

export function createTurns() {
  const users = new Map<string, Turn>()
  let searching = 0

  return {
    /** Until it ends others, of whom one search went before, wait for this one. */
    async during<T>(userId: string, search: () => Promise<T>): Promise<T> {
      const mine = turnOf(userId)
      if (mine.searches++ === 0) searching++
      try {
        return await search()
      } finally {
        if (--mine.searches === 0) searching--
        tidy(userId, mine)
      }
    },

    /** Runs what ranks for the user when it is its turn. */
    take<T>(userId: string, rank: () => Promise<T>): Promise<T> {
      const mine = turnOf(userId)
      const ranked = mine.last === null ? rank() : mine.last.then(() => afterOthers(mine)).then(rank)
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

  function tidy(userId: string, mine: Turn): void {
    if (mine.searches === 0 && mine.last === null) users.delete(userId)
  }

  async function afterOthers({ searches }: Turn): Promise<void> {
    const areOthers = () => searching > (searches > 0 ? 1 : 0)
    let turns = 0
    do await nextTurn()
    while (areOthers() && ++turns < TURNS_MAX)
  }
}
