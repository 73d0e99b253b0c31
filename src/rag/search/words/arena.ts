/**
 * Many growing lists of numbers in one typed array: chains of slices of 2, 4, 8 … 1,024 numbers,
 * like Lucene's postings. Separate arrays would use 100 bytes per list, and most words occur once.
 */
const SLICE_MIN = 2
const SLICE_MAX = 1_024

/** Per list: its first slice, the next place, the end of its last slice, and that's length. */
const FIELDS = 4

export class Lists {
  #numbers = new Uint32Array(1_024)
  /** 0 is no slice. */
  #used = 1
  #heads = new Uint32Array(256 * FIELDS)
  #count = 0

  get bytes(): number {
    return this.#numbers.byteLength + this.#heads.byteLength
  }

  /** @returns the list's number, from 0 */
  open(): number {
    const list = this.#count++
    if (this.#count * FIELDS > this.#heads.length)
      this.#heads = grown(this.#heads, this.#count * FIELDS)
    return list
  }

  push(list: number, value: number): void {
    const head = list * FIELDS
    let at = this.#heads[head + 1] as number
    if (at === (this.#heads[head + 2] as number)) {
      const length = Math.min(SLICE_MAX, Math.max(SLICE_MIN, (this.#heads[head + 3] as number) * 2))
      const slice = this.#reserve(length + 1)
      // The last place of a slice holds the next slice's place.
      if (at === 0) this.#heads[head] = slice
      else this.#numbers[at] = slice
      at = slice
      this.#heads[head + 2] = slice + length
      this.#heads[head + 3] = length
    }
    this.#numbers[at] = value
    this.#heads[head + 1] = at + 1
  }

  /** Calls `each` with whole slices of the list: the array, and the range. */
  read(list: number, each: (numbers: Uint32Array, from: number, to: number) => void): void {
    const head = list * FIELDS
    const end = this.#heads[head + 1] as number
    let at = this.#heads[head] as number
    for (let length = SLICE_MIN; at !== 0; length = Math.min(SLICE_MAX, length * 2)) {
      if (end >= at && end <= at + length) {
        each(this.#numbers, at, end)
        return
      }
      each(this.#numbers, at, at + length)
      at = this.#numbers[at + length] as number
    }
  }

  #reserve(length: number): number {
    const at = this.#used
    this.#used += length
    if (this.#used > this.#numbers.length) this.#numbers = grown(this.#numbers, this.#used)
    return at
  }
}

export function grown<T extends Uint32Array | Float32Array | Int32Array | Uint8Array>(
  array: T,
  atLeast: number,
): T {
  const Numbers = array.constructor as new (length: number) => T
  const larger = new Numbers(Math.max(atLeast, Math.ceil(array.length * 1.5)))
  larger.set(array as never)
  return larger
}
