// Ids of tool calls as one vendor takes them. A conversation may have begun with another vendor, or been written by hand.
// A call and its answer are mended alike, and two calls that would become one stay two.
import { createNameAllocator } from './free-names.ts'

export type ToolIds = {
  renameCall(id: string, isCustom?: boolean): string
  /** The id of the call that it answers: the last one that was called so. */
  renameAnswer(id: string): string
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
  const renamed = new Map<string, string>()
  const custom = new Set<string>()
  const freeName = createNameAllocator(lengthMax)
  const clean = (id: string) => id.replace(foreign, '_').slice(0, lengthMax) || 'call'
  return {
    renameCall(id, isCustom = false) {
      const own = freeName(clean(id))
      renamed.set(id, own)
      if (isCustom) custom.add(own)
      return own
    },
    renameAnswer: (id) => renamed.get(id) ?? clean(id),
    isCustom: (own) => custom.has(own),
  }
}
