/** The most recently used values, up to a weight in all. A value heavier than the whole is kept alone, until another is asked for. */
export function weightedCache<V>(weightMax: number, weigh: (value: V) => number) {
  const kept = new Map<string, V>()
  let weight = 0

  function drop(key: string, value: V) {
    kept.delete(key)
    weight -= weigh(value)
  }

  return {
    get(key: string): V | undefined {
      const value = kept.get(key)
      if (value === undefined) return undefined
      // A Map keeps the order in which keys were set: the least recently used comes first.
      kept.delete(key)
      kept.set(key, value)
      return value
    },
    set(key: string, value: V): void {
      const before = kept.get(key)
      if (before !== undefined) drop(key, before)
      for (const [oldest, old] of kept) {
        if (weight + weigh(value) <= weightMax) break
        drop(oldest, old)
      }
      kept.set(key, value)
      weight += weigh(value)
    },
  }
}
