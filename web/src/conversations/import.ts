import { api } from '../api/client.ts'
import type { ConversationImport, JsonObject } from '../api/types.ts'
import { announceChange } from './queries.ts'

/** The service takes an export in parts; a part that comes twice changes nothing. */
const PART_BYTES = 2_000_000

/** Imports conversations of our export or ChatGPT’s, in parts. */
export async function importConversations(
  conversations: JsonObject[],
  onProgress?: (done: number) => void,
): Promise<ConversationImport> {
  const total: ConversationImport = { imported: 0, skipped: [] }
  let done = 0
  for (const part of cutParts(conversations)) {
    const { imported, skipped } = await api.post('/api/conversations/import', {
      conversations: part,
    })
    total.imported += imported
    total.skipped.push(...skipped)
    done += part.length
    onProgress?.(done / conversations.length)
  }
  await announceChange()
  return total
}

export function cutParts(conversations: JsonObject[], bytesMax = PART_BYTES): JsonObject[][] {
  const parts: JsonObject[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const conversation of conversations) {
    const bytes = JSON.stringify(conversation).length
    if (size + bytes > bytesMax) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(conversation)
    size += bytes
  }
  return parts
}

/** Returns the conversations of a file; null when it has none. */
export function readExport(text: string): JsonObject[] | null {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
    const { conversations } = value as { conversations?: unknown }
    return Array.isArray(conversations) ? conversations : null
  } catch {
    return null
  }
}
