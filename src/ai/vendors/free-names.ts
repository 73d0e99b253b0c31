// Names of a vendor's, each given out once: a second one that is alike gets a number at its end.
// The trap: names that differ only where the number must stand would each try all numbers; they count on together.

/** Digits and a dash: more names than any request holds. */
const END_LENGTH_MAX = 8

/** `wanted` is no longer than `lengthMax`. */
export function createFreeNames(lengthMax: number): (wanted: string) => string {
  const taken = new Set<string>()
  /** How far each beginning has counted: a search for a free name begins where the last one ended. */
  const counted = new Map<string, number>()
  return (wanted) => {
    let name = wanted
    if (taken.has(name)) {
      const beginning = wanted.slice(0, lengthMax - END_LENGTH_MAX)
      const key = wanted.length > beginning.length ? beginning : `${wanted}_`
      let number = counted.get(key) ?? 1
      do {
        const end = `_${++number}`
        name = wanted.slice(0, lengthMax - end.length) + end
      } while (taken.has(name))
      counted.set(key, number)
    }
    taken.add(name)
    return name
  }
}
