// Allocates unique names for a vendor: a repeated name gets a number at its end. The trap: long
// names with the same beginning would each try all numbers, so they share one counter.

/** Digits and an underscore: more names than any request contains. */
const END_LENGTH_MAX = 8

/** `desired` is at most `lengthMax` long. */
export function createNameAllocator(lengthMax: number): (desired: string) => string {
  const usedNames = new Set<string>()
  /** The last number of each beginning; the search for a free name continues from there. */
  const lastNumbers = new Map<string, number>()
  return (desired) => {
    let name = desired
    if (usedNames.has(name)) {
      const beginning = desired.slice(0, lengthMax - END_LENGTH_MAX)
      const key = desired.length > beginning.length ? beginning : `${desired}_`
      let number = lastNumbers.get(key) ?? 1
      do {
        const end = `_${++number}`
        name = desired.slice(0, lengthMax - end.length) + end
      } while (usedNames.has(name))
      lastNumbers.set(key, number)
    }
    usedNames.add(name)
    return name
  }
}
