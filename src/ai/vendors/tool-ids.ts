// Ids of tool calls as one vendor takes them. A conversation may have begun with another vendor, or been written by hand.
// A call and its answer are mended alike, and two calls that would become one stay two.
import { createFreeNames } from './free-names.ts'

export type ToolIds = {
  ofCall(id: string, isCustom?: boolean): string
  /** The id of the call that it answers: the last one that was called so. */
  ofAnswer(id: string): string
  /** Whether a mended id is that of a call without a schema, which is answered as such. */
  isCustom(own: string): boolean
}

export function createToolIds({
  foreign,
  lengthMax,
}: {
  foreign: RegExp
  lengthMax: number
}): ToolIds {
  const mended = new Map<string, string>()
  const custom = new Set<string>()
  const freeName = createFreeNames(lengthMax)
  const clean = (id: string) => id.replace(foreign, '_').slice(0, lengthMax) || 'call'
  return {
    ofCall(id, isCustom = false) {
      const own = freeName(clean(id))
      mended.set(id, own)
      if (isCustom) custom.add(own)
      return own
    },
    ofAnswer: (id) => mended.get(id) ?? clean(id),
    isCustom: (own) => custom.has(own),
  }
}
