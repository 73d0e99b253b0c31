import type { Documents } from '../api.ts'

/** What a question searches: `auto`, nothing, or the chosen documents and collections. */
export type Scope = { documents: Documents; collections: string[] }

export const AUTO: Scope = { documents: 'auto', collections: [] }

export function isInScope({ documents, collections }: Scope, value: string): boolean {
  const [kind, id = ''] = value.split(':')
  return kind === 'collection' ? collections.includes(id) : listDocuments(documents).includes(id)
}

/** Adds an option to the scope, or removes it. Without any, the scope is automatic again. */
export function toggleInScope({ documents, collections }: Scope, value: string): Scope {
  const [kind, id = ''] = value.split(':')
  const next = {
    documents:
      kind === 'document' ? toggle(listDocuments(documents), id) : listDocuments(documents),
    collections: kind === 'collection' ? toggle(collections, id) : collections,
  }
  return next.documents.length + next.collections.length === 0 ? AUTO : next
}

export function addToScope(scope: Scope, value: string): Scope {
  return isInScope(scope, value) ? scope : toggleInScope(scope, value)
}

/** Returns the number of chosen documents and collections. */
export function countChosen({ documents, collections }: Scope): number {
  return listDocuments(documents).length + collections.length
}

function listDocuments(documents: Documents): string[] {
  return Array.isArray(documents) ? documents : []
}

function toggle(list: string[], id: string): string[] {
  return list.includes(id) ? list.filter((one) => one !== id) : [...list, id]
}
