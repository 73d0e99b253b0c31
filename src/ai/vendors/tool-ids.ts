// Ids of tool calls that one vendor accepts, when a conversation comes from another vendor or was
// written by hand. A call and its result get the same new id, and two calls never share one.
import { createNameAllocator } from './free-names.ts'

export type ToolIds = {
  renameCall(id: string, isCustom?: boolean): string
  /** Returns the id of the latest call with that id. */
  renameAnswer(id: string): string
  /** Returns true when a new id belongs to a call of a text tool, whose result has another type. */
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
