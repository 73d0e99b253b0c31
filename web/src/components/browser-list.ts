// Lists in localStorage, one per user and name. The service stores no chat text, so these are the
// only copy. Sign-out deletes them.
import { useSyncExternalStore } from 'react'

const PREFIX = 'latchkey.'

export type BrowserList<T> = {
  /** Returns the stored items, newest first. Renders again when any tab changes them. */
  use(userId: string): T[]
  read(userId: string): T[]
  /**
   * Stores the result of `change`. It must leave other items unchanged, because another tab may
   * have added them.
   */
  update(userId: string, change: (stored: T[]) => T[]): void
}

const listeners = new Set<() => void>()
const cache = new Map<string, { text: string | null; items: unknown[] }>()

/**
 * A list named `name` of at most `itemsMax` items. Beyond that, and when storage is full, the last
 * items are dropped.
 */
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

/** The name of the database of a user's pictures, which the lists refer to. */
export function picturesDatabase(userId: string): string {
  return `${PREFIX}pictures.${userId}`
}

/** Deletes all lists and pictures of a user. */
export function deleteBrowserLists(userId: string): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX) && key.endsWith(`.${userId}`)) localStorage.removeItem(key)
  }
  cache.clear()
  notify()
  indexedDB.deleteDatabase(picturesDatabase(userId))
}

function buildKey(name: string, userId: string): string {
  return `${PREFIX}${name}.${userId}`
}

function readItems(key: string): unknown[] {
  const text = localStorage.getItem(key)
  const known = cache.get(key)
  // React compares by identity: return the same array for the same text.
  if (known?.text === text) return known.items
  let items: unknown[] = []
  try {
    items = text === null ? [] : JSON.parse(text)
  } catch {
    // The next write replaces unreadable text.
  }
  cache.set(key, { text, items })
  return items
}

function writeItems(key: string, items: unknown[]): void {
  // Storage holds a few megabytes: drop the oldest items when it is full.
  for (let remaining = items; remaining.length > 0; remaining = remaining.slice(0, -1)) {
    const text = JSON.stringify(remaining)
    try {
      localStorage.setItem(key, text)
      cache.set(key, { text, items: remaining })
      return
    } catch {
      // Retry with one item less.
    }
  }
  localStorage.removeItem(key)
  // The page shows the items until it is closed.
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
