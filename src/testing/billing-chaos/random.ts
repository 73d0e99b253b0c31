/** Random numbers that a seed repeats: mulberry32. */
export type Random = ReturnType<typeof createRandom>

export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    /** True in this share of cases. */
    chance: (share: number) => next() < share,
    pick: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
    shuffle<T>(items: T[]): T[] {
      for (let index = items.length - 1; index > 0; index--) {
        const swapIndex = Math.floor(next() * (index + 1))
        const item = items[index] as T
        items[index] = items[swapIndex] as T
        items[swapIndex] = item
      }
      return items
    },
  }
}
