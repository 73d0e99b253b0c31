// Ids of tool calls as one vendor takes them. A conversation may have begun with another vendor, or been written by hand.
// A call and its answer are mended alike, and two calls that would become one stay two.
export type ToolIds = {
  ofCall(id: string, isCustom?: boolean): string
  /** The id of the call that it answers: the last one that was called so. */
  ofAnswer(id: string): string
  /** Whether a mended id is that of a call without a schema, which is answered as such. */
  isCustom(own: string): boolean
}

export function createToolIds({ foreign, lengthMax }: { foreign: RegExp; lengthMax: number }): ToolIds {
  const mended = new Map<string, string>()
  const taken = new Set<string>()
  const custom = new Set<string>()
  /** How often an id has come: each search for a free one begins where the last ended. */
  const times = new Map<string, number>()
  const clean = (id: string) => id.replace(foreign, '_').slice(0, lengthMax) || 'call'
  return {
    ofCall(id, isCustom = false) {
      const base = clean(id)
      let own = base
      let number = times.get(base) ?? 1
      while (taken.has(own)) {
        const end = `_${++number}`
        own = base.slice(0, lengthMax - end.length) + end
      }
      times.set(base, number)
      taken.add(own)
      mended.set(id, own)
      if (isCustom) custom.add(own)
      return own
    },
    ofAnswer: (id) => mended.get(id) ?? clean(id),
    isCustom: (own) => custom.has(own),
  }
}
