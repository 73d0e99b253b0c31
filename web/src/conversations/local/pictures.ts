/**
 * The pictures of conversations that this browser keeps. They are in IndexedDB, one database per
 * user, because localStorage holds a few megabytes; a stored message has a reference instead.
 * Sign-out deletes the database.
 */
import { useSyncExternalStore } from 'react'
import { picturesDatabase } from '../../components/browser-list.ts'
import { newId } from '../../components/new-id.ts'
import type { Part } from '../api.ts'

type Picture = Extract<Part, { type: 'image' }>

const STORE = 'pictures'
const REFERENCE = 'kept:'

class Pictures {
  readonly #userId: string
  readonly #data = new Map<string, string>()
  readonly #loading = new Map<string, Promise<void>>()
  readonly #listeners = new Set<() => void>()
  #version = 0
  #database: Promise<IDBDatabase> | null = null

  constructor(userId: string) {
    this.#userId = userId
  }

  /** Increases when a picture has been loaded. */
  get version(): number {
    return this.#version
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Stores a picture and returns the part that refers to it. */
  store(part: Picture): Picture {
    const id = newId()
    this.#data.set(id, part.data)
    void this.#run('readwrite', (store) => void store.put(part.data, id))
    return { ...part, data: REFERENCE + id }
  }

  /** Returns null for a picture that is not loaded yet, or lost. */
  find(part: Picture): Picture | null {
    const id = readReference(part)
    if (id === null) return part
    const data = this.#data.get(id)
    if (data !== undefined) return { ...part, data }
    void this.load([id])
    return null
  }

  delete(id: string): void {
    this.#data.delete(id)
    void this.#run('readwrite', (store) => void store.delete(id))
  }

  /** Resolves when the pictures are loaded, or lost. */
  async load(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (this.#data.has(id) || this.#loading.has(id)) continue
      this.#loading.set(
        id,
        this.#run('readonly', (store) => this.#read(store, id)),
      )
    }
    await Promise.all(ids.map((id) => this.#loading.get(id)))
  }

  #read(store: IDBObjectStore, id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = store.get(id)
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        if (typeof request.result === 'string') {
          this.#data.set(id, request.result)
          this.#version++
          for (const listener of this.#listeners) listener()
        }
        resolve()
      }
    })
  }

  /** Never throws: a browser without storage keeps pictures until the page is left. */
  async #run(
    mode: IDBTransactionMode,
    use: (store: IDBObjectStore) => void | Promise<void>,
  ): Promise<void> {
    this.#database ??= this.#open()
    await this.#database
      .then((database) => use(database.transaction(STORE, mode).objectStore(STORE)))
      .catch(() => undefined)
  }

  #open(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(picturesDatabase(this.#userId), 1)
      request.onupgradeneeded = () => request.result.createObjectStore(STORE)
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const database = request.result
        // Another tab, or this one, signs out.
        database.onversionchange = () => {
          database.close()
          this.#database = null
          this.#data.clear()
          this.#loading.clear()
        }
        resolve(database)
      }
    })
  }
}

const byUser = new Map<string, Pictures>()

export function getPictures(userId: string): Pictures {
  const pictures = byUser.get(userId) ?? new Pictures(userId)
  byUser.set(userId, pictures)
  return pictures
}

/** Renders again when a picture has been loaded. */
export function usePictures(userId: string): Pictures {
  const pictures = getPictures(userId)
  useSyncExternalStore(pictures.subscribe, () => pictures.version)
  return pictures
}

/** Returns the id of a stored picture; null for a part that has its data. */
export function readReference({ data }: Picture): string | null {
  return data.startsWith(REFERENCE) ? data.slice(REFERENCE.length) : null
}
