// Conversations in localStorage, under the user's id, until they sign out: the service keeps no chat text.
import { useSyncExternalStore } from 'react'
import type { Conversation } from './conversation.ts'

const CONVERSATIONS_MAX = 40
const PREFIX = 'latchkey.conversations.'
const listeners = new Set<() => void>()
let cache: { key: string; text: string | null; list: Conversation[] } | null = null

export function useConversations(userId: string): Conversation[] {
  return useSyncExternalStore(subscribe, () => read(userId))
}

export function findConversation(userId: string, id: string): Conversation | undefined {
  return read(userId).find((conversation) => conversation.id === id)
}

/** A question puts its conversation on top, before the answer is there. */
export function saveConversation(userId: string, conversation: Conversation) {
  const others = read(userId).filter(({ id }) => id !== conversation.id)
  write(userId, [conversation, ...others].slice(0, CONVERSATIONS_MAX))
}

/** The answer joins it, unless the conversation has been deleted meanwhile: by hand or by signing out, in this tab or another. */
export function saveAnswer(userId: string, conversation: Conversation) {
  if (findConversation(userId, conversation.id)) saveConversation(userId, conversation)
}

export function deleteConversation(userId: string, id: string) {
  write(
    userId,
    read(userId).filter((conversation) => conversation.id !== id),
  )
}

export function deleteAllConversations(userId: string) {
  localStorage.removeItem(PREFIX + userId)
  notify()
}

function read(userId: string): Conversation[] {
  const key = PREFIX + userId
  const text = localStorage.getItem(key)
  // The same list as long as the text is the same: React compares by identity.
  if (cache?.key === key && cache.text === text) return cache.list
  let list: Conversation[] = []
  try {
    list = text === null ? [] : (JSON.parse(text) as Conversation[])
  } catch {
    // Unreadable, so as good as empty; the next write replaces it.
  }
  cache = { key, text, list }
  return list
}

function write(userId: string, list: Conversation[]) {
  // Storage is a few megabytes: when it is full, the oldest conversations make room.
  for (let kept = list; ; kept = kept.slice(0, -1)) {
    try {
      localStorage.setItem(PREFIX + userId, JSON.stringify(kept))
      break
    } catch {
      if (kept.length === 0) break
    }
  }
  notify()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

function notify() {
  for (const listener of listeners) listener()
}
