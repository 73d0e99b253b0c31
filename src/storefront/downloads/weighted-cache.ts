/**
 * The most recently used values, up to a weight in all. A value heavier than the whole cache is
 * stored alone, until another is requested.
 */
export function weightedCache<V>(weightMax: number, weigh: (value: V) => number) {
  const entries = new Map<string, V>()
  let weight = 0

  function drop(key: string, value: V) {
    entries.delete(key)
    weight -= weigh(value)
  }

  return {
    get(key: string): V | undefined {
      const value = entries.get(key)
      if (value === undefined) return undefined
      // A Map keeps the order in which keys were set: the least recently used comes first.
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key: string, value: V): void {
      const before = entries.get(key)
      if (before !== undefined) drop(key, before)
      for (const [oldest, old] of entries) {
        if (weight + weigh(value) <= weightMax) break
        drop(oldest, old)
      }
      entries.set(key, value)
      weight += weigh(value)
    },
  }
}
