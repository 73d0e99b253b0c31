/**
 * A map that drops what was not asked for longest. `get` moves a value to the young end every so often, not each time.
 */
export class LruCache<K, V> {
  readonly #max: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(max: number) {
    this.#max = Math.max(1, Math.floor(max / 2))
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const aged = this.#old.get(key)
    if (aged !== undefined) this.set(key, aged)
    return aged
  }

  /** Two generations: when the young one is full the old one is dropped whole. No list to relink at each read. */
  set(key: K, value: V): void {
    this.#young.set(key, value)
    this.#old.delete(key)
    if (this.#young.size <= this.#max) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  *entries(): Iterable<[K, V]> {
    yield* this.#old
    yield* this.#young
  }
}
