// Lists in localStorage, one per user and name. The service keeps no chat text, so these are the only copy; signing out deletes them.
import { useSyncExternalStore } from 'react'

const PREFIX = 'latchkey.'

export type BrowserList<T> = {
  /** The stored items, newest first. Renders again when this tab or another changes them. */
  use(userId: string): T[]
  read(userId: string): T[]
  /**
   * Replaces the list by `change` of what is stored now. A change names the items it is about and leaves the others alone,
   * because another tab may have added to them.
   */
  update(userId: string, change: (stored: T[]) => T[]): void
}

const listeners = new Set<() => void>()
const cache = new Map<string, { text: string | null; items: unknown[] }>()

/** A list named `name` of at most `itemsMax` items. Beyond that, and when storage is full, the last items are dropped. */
export function createBrowserList<T>(name: string, itemsMax: number): BrowserList<T> {
  const read = (userId: string) => readItems(buildKey(name, userId)) as T[]
  return {
    use: (userId) => useSyncExternalStore(subscribe, () => read(userId)),
    read,
    update(userId, change) {
      writeItems(buildKey(name, userId), change(read(userId)).slice(0, itemsMax))
      notify()
    },
  }
}

/** Deletes all lists of a user. */
export function deleteBrowserLists(userId: string): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX) && key.endsWith(`.${userId}`)) localStorage.removeItem(key)
  }
  cache.clear()
  notify()
}

function buildKey(name: string, userId: string): string {
  return `${PREFIX}${name}.${userId}`
}

function readItems(key: string): unknown[] {
  const text = localStorage.getItem(key)
  const known = cache.get(key)
  // The same array while the text is the same: React compares by identity.
  if (known?.text === text) return known.items
  let items: unknown[] = []
  try {
    items = text === null ? [] : JSON.parse(text)
  } catch {
    // Unreadable, so as good as empty; the next write replaces it.
  }
  cache.set(key, { text, items })
  return items
}

function writeItems(key: string, items: unknown[]): void {
  // Storage is a few megabytes: when it is full, the oldest items make room.
  for (let remaining = items; remaining.length > 0; remaining = remaining.slice(0, -1)) {
    const text = JSON.stringify(remaining)
    try {
      localStorage.setItem(key, text)
      cache.set(key, { text, items: remaining })
      return
    } catch {
      // Try again with one item less.
    }
  }
  localStorage.removeItem(key)
  // The page shows what could not be stored until it is left.
  cache.set(key, { text: null, items })
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
