// Names of a vendor's, each given out once: a second one that is alike gets a number at its end.
// The trap: names that differ only where the number must stand would each try all numbers; they count on together.

/** Digits and a dash: more names than any request holds. */
const END_LENGTH_MAX = 8

/** `wanted` is no longer than `lengthMax`. */
export function createNameAllocator(lengthMax: number): (desired: string) => string {
  const usedNames = new Set<string>()
  /** How far each beginning has counted: a search for a free name begins where the last one ended. */
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
