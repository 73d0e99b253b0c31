/** Decides which documents an answer may read, and collects the instructions of their collections. */
import type { Caller, Entitlements } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import { findCollectionIds, listMemberIds } from '#rag/collections/collection-store.ts'
import { readCollectionInstructions, requireCollections } from '#rag/collections/collections.ts'
import { readDocumentId } from '#rag/documents/ids.ts'
import { type Condition, onlyDocuments } from '#rag/search/filter.ts'
import { findDocuments, type SearchDeps } from '#rag/search/search.ts'
import type { Part } from '../content.ts'
import type { DocumentScope } from './answer-writer.ts'

export type DocumentChoice = 'auto' | 'off' | readonly string[]

export type ScopeTerms = {
  choice: DocumentChoice
  /** Documents in the question's parts count as chosen. */
  parts: readonly Part[]
  /** Collections that the question chooses. */
  collections: readonly string[]
  /** The conversation's collections; deleted ones are ignored. */
  usualCollections: readonly string[]
}

/** `documents` is null where the answer reads none: they are off, or there are none. */
export type Scope = { documents: DocumentScope | null; instructions: string }

type Deps = Pick<SearchDeps, 'db' | 'indexes'> & { requireGrant: Entitlements['require'] }

/**
 * Chosen documents and collections add up; without any, the conversation's collections limit the
 * answer.
 * @throws Problem 403 for chosen documents without the plan's grant; 404 for an unknown collection
 */
export async function resolveScope(
  deps: Deps,
  caller: Caller,
  { choice, parts, collections, usualCollections }: ScopeTerms,
): Promise<Scope> {
  const { db } = deps
  const { userId } = caller
  const named = parts.flatMap((part) => (part.type === 'document' ? [part.document_id] : []))
  const ids = [...(typeof choice === 'string' ? [] : choice), ...named].map(readDocumentId)
  const isChosen = ids.length > 0 || collections.length > 0
  if (choice === 'off' || !mayRead(deps, caller, isChosen))
    return { documents: null, instructions: '' }

  await requireCollections(db, userId, collections)
  const chosen = new Set(isChosen ? collections : usualCollections)
  const known = chosen.size === 0 ? [] : await findCollectionIds(db, userId, [...chosen])
  const members = known.length === 0 ? [] : await listMemberIds(db, userId, known)
  const isLimited = isChosen || known.length > 0
  const conditions: Condition[] = isLimited ? [onlyDocuments([...ids, ...members])] : []
  const documents = await findDocuments(deps, userId, conditions)
  const instructions = await readCollectionInstructions(db, userId, known)
  if (documents.length === 0 && !isChosen) return { documents: null, instructions }
  return { documents: { conditions, isChosen }, instructions }
}

function mayRead({ requireGrant }: Deps, caller: Caller, isChosen: boolean): boolean {
  try {
    requireGrant(caller, { needs: 'library' })
    return true
  } catch (error) {
    if (isChosen || !(error instanceof Problem)) throw error
    return false
  }
}
