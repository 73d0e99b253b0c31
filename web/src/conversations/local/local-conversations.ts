// Conversations that the service does not keep: temporary ones in memory, others in this browser.

import { useSyncExternalStore } from 'react'
import { t } from '../../language/text.ts'
import type { Part } from '../api.ts'
import { type LocalConversation, localConversationList } from './conversation-list.ts'
import { getPictures, readReference, usePictures } from './pictures.ts'

/** Where conversations are: `use` renders again when one changes. */
export type LocalStore = {
  use(userId: string): LocalConversation[]
  read(userId: string): LocalConversation[]
  /** Returns the conversations with all their pictures, which `read` does not wait for. */
  load(userId: string): Promise<LocalConversation[]>
  update(userId: string, change: (stored: LocalConversation[]) => LocalConversation[]): void
}

/** In this browser, until sign-out. */
export const inBrowser: LocalStore = {
  use: (userId) => fillPictures(localConversationList.use(userId), usePictures(userId)),
  read: (userId) => fillPictures(localConversationList.read(userId), getPictures(userId)),
  async load(userId) {
    const pictures = getPictures(userId)
    await pictures.load(listReferences(userId))
    return fillPictures(localConversationList.read(userId), pictures)
  },
  update(userId, change) {
    const pictures = getPictures(userId)
    const before = listReferences(userId)
    localConversationList.update(userId, (stored) =>
      change(stored).map((one) => mapPictures(one, (part) => storePicture(pictures, part))),
    )
    const after = new Set(listReferences(userId))
    for (const id of before) if (!after.has(id)) pictures.delete(id)
  },
}

/** Until the page is left. */
class InMemory implements LocalStore {
  #list: LocalConversation[] = []
  readonly #listeners = new Set<() => void>()

  use = (): LocalConversation[] => useSyncExternalStore(this.#subscribe, () => this.#list)
  read = (): LocalConversation[] => this.#list
  load = async (): Promise<LocalConversation[]> => this.#list
  update = (_: string, change: (stored: LocalConversation[]) => LocalConversation[]): void => {
    this.#list = change(this.#list)
    for (const listener of this.#listeners) listener()
  }

  #subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export const inMemory: LocalStore = new InMemory()

/** Changes one conversation, creates it if needed, and moves it to the top. */
export function changeConversation(
  store: LocalStore,
  userId: string,
  id: string,
  change: (stored: LocalConversation) => Partial<LocalConversation>,
): void {
  store.update(userId, (stored) => {
    const found = stored.find((one) => one.id === id) ?? createConversation(id)
    const updated_at = new Date().toISOString()
    return [{ ...found, updated_at, ...change(found) }, ...stored.filter((one) => one.id !== id)]
  })
}

function createConversation(id: string): LocalConversation {
  return { id, title: '', updated_at: '', leaf_id: null, messages: [] }
}

const TITLE_MAX = 60

/** Returns the first words of a question. */
export function buildTitle(parts: Part[]): string {
  const text =
    parts
      .find((part) => part.type === 'text')
      ?.text.trim()
      .split('\n')[0] ?? ''
  return text.length > TITLE_MAX
    ? `${text.slice(0, TITLE_MAX - 1)}…`
    : text || t('New conversation')
}

type Picture = Extract<Part, { type: 'image' }>

/** A conversation without pictures stays the same object. */
function mapPictures(
  conversation: LocalConversation,
  map: (picture: Picture) => Part,
): LocalConversation {
  if (!conversation.messages.some(({ parts }) => parts.some(({ type }) => type === 'image')))
    return conversation
  const messages = conversation.messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (part.type === 'image' ? map(part) : part)),
  }))
  return { ...conversation, messages }
}

function storePicture(pictures: ReturnType<typeof getPictures>, part: Picture): Part {
  return readReference(part) === null ? pictures.store(part) : part
}

/** Returns the ids of the stored pictures of all conversations. */
function listReferences(userId: string): string[] {
  return localConversationList
    .read(userId)
    .flatMap(({ messages }) => messages.flatMap(({ parts }) => parts))
    .flatMap((part) => (part.type === 'image' ? (readReference(part) ?? []) : []))
}

/** React compares by identity: the same list with the same pictures is the same object. */
const filled = new WeakMap<LocalConversation[], { version: number; list: LocalConversation[] }>()

function fillPictures(
  stored: LocalConversation[],
  pictures: ReturnType<typeof getPictures>,
): LocalConversation[] {
  const { version } = pictures
  const known = filled.get(stored)
  if (known?.version === version) return known.list
  const list = stored.map((one) =>
    mapPictures(one, (part) => pictures.find(part) ?? { type: 'text', text: t('(picture)') }),
  )
  filled.set(stored, { version, list })
  return list
}
