// The routes of documents are mounted twice: as the API of `rag`, and as the library of the app,
// which plans can grant without the API. The library takes no API keys.
import type { RoutePolicy } from '#platform/http/access-control.ts'

export type Mount = {
  prefix: string
  tag: string
  policy: RoutePolicy
  /** For routes that change nothing: search, ask, list. */
  readPolicy: RoutePolicy
  /** Returns the operation's id, which is unique in the API's description. */
  nameOperation(id: string): string
}

const API_POLICY = { access: 'user-or-key', needs: 'rag', limit: 'rag', scope: 'rag' } as const

export const RAG: Mount & { policy: typeof API_POLICY } = {
  prefix: '/api/rag',
  tag: 'rag',
  policy: API_POLICY,
  readPolicy: { ...API_POLICY, scope: 'rag:read' },
  nameOperation: (id) => id,
}

const LIBRARY_POLICY = { access: 'user', needs: 'library', limit: 'rag' } as const

export const LIBRARY: Mount = {
  prefix: '/api/library',
  tag: 'library',
  policy: LIBRARY_POLICY,
  readPolicy: LIBRARY_POLICY,
  nameOperation: (id) => `${id}InLibrary`,
}

/** Returns the mount of a queued request. */
export function findMount(prefix: string | undefined): Mount {
  return prefix === LIBRARY.prefix ? LIBRARY : RAG
}
