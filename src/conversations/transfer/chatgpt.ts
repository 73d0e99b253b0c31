// Reads a conversation of ChatGPT's export: nodes by id, each with its parent. Nodes of tools and
// hidden instructions are left out; what follows them moves to the last message before.
import { isObject } from '#platform/json.ts'
import { createContent, joinText } from '../content.ts'
import { TEXT_MAX } from '../schemas.ts'
import {
  type ConversationFile,
  type ImportedMessage,
  type ImportRead,
  readModel,
  readTime,
  readTitle,
} from './imported.ts'

type File = Record<string, unknown>

export function readChatGpt(file: ConversationFile, now: string): ImportRead {
  const title = readTitle(file.title)
  const nodes = new Map(
    Object.entries(file.mapping as File).flatMap(([id, node]) =>
      isObject(node) ? [[id, node] as const] : [],
    ),
  )
  const createdAt = readTime(file.create_time, now) ?? now
  const messages = new Map<string, ImportedMessage>()
  for (const [id, node] of nodes) {
    const message = isObject(node.message) ? readMessage(id, node.message, createdAt, now) : null
    if (message !== null) messages.set(id, message)
  }
  if (messages.values().some((message) => joinText(message).length > TEXT_MAX))
    return { title, skipped: 'too_long' }
  const findAncestor = createAncestorFinder(nodes, messages)
  for (const [id, message] of messages) message.parent_id = findAncestor(nodes.get(id)?.parent)
  const { conversation_id, id } = file
  const sourceId = [conversation_id, id].find((one) => typeof one === 'string' && one !== '')
  return {
    sourceId: (sourceId as string | undefined) ?? null,
    title,
    title_by: 'person',
    model: readModel(file.default_model_slug),
    settings: {},
    collection_ids: [],
    pinned_at: null,
    archived_at: file.is_archived === true ? now : null,
    leafId: findAncestor(file.current_node),
    createdAt,
    updatedAt: readTime(file.update_time, now) ?? createdAt,
    messages: [...messages.values()],
  }
}

/** Returns a function that finds a node's nearest message, beginning with the node itself. */
function createAncestorFinder(
  nodes: ReadonlyMap<string, File>,
  messages: ReadonlyMap<string, unknown>,
): (id: unknown) => string | null {
  const known = new Map<string, string | null>()
  return (id) => {
    const passed: string[] = []
    let at: unknown = id
    let found: string | null = null
    while (typeof at === 'string' && nodes.has(at)) {
      const before = messages.has(at) ? at : known.get(at)
      if (before !== undefined) {
        found = before
        break
      }
      // In a circle, the second visit finds null.
      known.set(at, null)
      passed.push(at)
      at = nodes.get(at)?.parent
    }
    for (const one of passed) known.set(one, found)
    return found
  }
}

function readMessage(
  id: string,
  message: File,
  createdAt: string,
  now: string,
): ImportedMessage | null {
  const { author, metadata, recipient } = message
  const role = isObject(author) ? author.role : null
  if (role !== 'user' && role !== 'assistant') return null
  const about = isObject(metadata) ? metadata : {}
  if (about.is_visually_hidden_from_conversation === true) return null
  // Messages to tools.
  if (typeof recipient === 'string' && recipient !== 'all') return null
  const text = isObject(message.content) ? readText(message.content) : ''
  if (text === '') return null
  return {
    ...createContent([{ type: 'text', text }]),
    id,
    parent_id: null,
    role,
    model: role === 'assistant' ? readModel(about.model_slug) : null,
    outcome: 'ok',
    usage: null,
    created_at: readTime(message.create_time, now) ?? createdAt,
  }
}

/** Marks of citations, between characters that no font has. */
const MARKS = /\ue200[^\ue200\ue201]{0,500}\ue201/g

function readText({ content_type: type, parts, text, language }: File): string {
  if (type === 'code' && typeof text === 'string')
    return `\`\`\`${typeof language === 'string' && language !== 'unknown' ? language : ''}\n${text}\n\`\`\``
  if ((type !== 'text' && type !== 'multimodal_text') || !Array.isArray(parts)) return ''
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      // A voice message has its words beside the sound.
      if (isObject(part) && typeof part.text === 'string') return part.text
      const isImage = isObject(part) && part.content_type === 'image_asset_pointer'
      return isImage ? '[Image]' : ''
    })
    .filter((part) => part !== '')
    .join('\n\n')
    .replaceAll(MARKS, '')
    .toWellFormed()
    .trim()
}
