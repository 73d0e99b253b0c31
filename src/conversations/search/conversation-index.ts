// Each user's conversations in memory for searches: the inverted index of their titles and
// messages, without the texts. Every use first compares the user's revision, so an index is never
// stale.
import { totalmem } from 'node:os'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type Cached, IndexCache } from '#rag/search/index-cache.ts'
import { grown } from '#rag/search/words/arena.ts'
import { WordIndex } from '#rag/search/words/word-index.ts'
import { joinText } from '../content.ts'
import { readUserSettings, type StoreDeps } from '../conversation-store.ts'
import { listEndedNodes, streamMessages } from '../message-groups.ts'
import { type IndexedConversation, listIndexed } from './index-store.ts'

/** `messageId`: null for the title. */
export type SlotPlace = { conversationId: string; messageId: string | null }

export type ConversationEntry = IndexedConversation & {
  titleSlot: number
  /** By message. */
  slots: Map<string, number>
}

export type ConversationIndex = {
  words: WordIndex
  /** By slot: 1 while the text exists. */
  alive: Uint8Array
  /** By slot. */
  places: SlotPlace[]
  /** By conversation. */
  conversations: Map<string, ConversationEntry>
}

type CachedIndex = ConversationIndex & Cached & { revision: number }

const MB = 1024 * 1024
/** 2,000 conversations of 10 messages need about 30 MB. */
const BYTES_MAX = Math.min(256 * MB, Math.max(64 * MB, totalmem() / 32))
const CONVERSATIONS_PER_READ = 100
/** Longest time that texts are indexed without yielding to the event loop. */
const SLICE_MS = 5
const PLACE_BYTES = 100

export class ConversationIndexes extends IndexCache<CachedIndex> {
  readonly #deps: Pick<StoreDeps, 'db' | 'secrets'>

  constructor(deps: Pick<StoreDeps, 'db' | 'secrets'>, { bytesMax = BYTES_MAX } = {}) {
    super(bytesMax)
    this.#deps = deps
  }

  protected create(): CachedIndex {
    return { ...createEmptyIndex(), ready: Promise.resolve() }
  }

  protected reset(index: CachedIndex): void {
    Object.assign(index, createEmptyIndex())
  }

  protected async refresh(userId: string, index: CachedIndex): Promise<void> {
    const { revision } = await readUserSettings(this.#deps.db, userId)
    if (revision === index.revision) return
    const rows = await listIndexed(this.#deps, userId, index.revision)
    const current = new Set(rows.ids)
    for (const [id, entry] of index.conversations)
      if (!current.has(id)) removeConversation(index, id, entry)
    // Dead slots take as much memory as live ones.
    if (index.words.isSparse || current.size === 0) {
      this.reset(index)
      rows.changed = current.size === 0 ? [] : (await listIndexed(this.#deps, userId, 0)).changed
    }
    for (let from = 0; from < rows.changed.length; from += CONVERSATIONS_PER_READ)
      await this.#update(userId, index, rows.changed.slice(from, from + CONVERSATIONS_PER_READ))
    // The revision was read first: a later change has a higher one and causes another refresh.
    index.revision = revision
    index.bytes = index.words.bytes + index.alive.byteLength + index.places.length * PLACE_BYTES
  }

  async #update(
    userId: string,
    index: CachedIndex,
    changed: readonly IndexedConversation[],
  ): Promise<void> {
    for (const row of changed) updateTitle(index, row)
    const ids = changed.map(({ id }) => id)
    const nodes = await listEndedNodes(this.#deps.db, userId, ids)
    // An ended message never changes.
    const added = nodes.filter(
      ({ conversation_id, id }) => !index.conversations.get(conversation_id)?.slots.has(id),
    )
    let sinceMs = performance.now()
    for await (const message of streamMessages(this.#deps, userId, added)) {
      const { conversationId, id } = message
      const slot = addText(index, joinText(message), { conversationId, messageId: id })
      index.conversations.get(conversationId)?.slots.set(id, slot)
      if (performance.now() - sinceMs < SLICE_MS) continue
      await yieldToEventLoop()
      sinceMs = performance.now()
    }
  }
}

function updateTitle(index: ConversationIndex, row: IndexedConversation): void {
  const entry = index.conversations.get(row.id)
  if (entry !== undefined && entry.title === row.title) {
    Object.assign(entry, row)
    return
  }
  if (entry !== undefined) removeSlot(index, entry.titleSlot)
  const titleSlot = addText(index, row.title, { conversationId: row.id, messageId: null })
  index.conversations.set(row.id, { ...row, titleSlot, slots: entry?.slots ?? new Map() })
}

function addText(index: ConversationIndex, text: string, place: SlotPlace): number {
  const slot = index.words.add(text)
  if (slot >= index.alive.length) index.alive = grown(index.alive, slot + 1)
  index.alive[slot] = 1
  index.places.push(place)
  return slot
}

function removeConversation(index: ConversationIndex, id: string, entry: ConversationEntry): void {
  for (const slot of [entry.titleSlot, ...entry.slots.values()]) removeSlot(index, slot)
  index.conversations.delete(id)
}

function removeSlot(index: ConversationIndex, slot: number): void {
  index.alive[slot] = 0
  index.words.remove(slot)
}

function createEmptyIndex(): Omit<CachedIndex, 'ready'> {
  return {
    words: new WordIndex(),
    alive: new Uint8Array(64),
    places: [],
    conversations: new Map(),
    revision: 0,
    bytes: 0,
  }
}
