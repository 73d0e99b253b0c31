/** Decides which documents an answer may read. */
import type { Caller, Entitlements } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import { readDocumentId } from '#rag/documents/ids.ts'
import { type Condition, onlyDocuments } from '#rag/search/filter.ts'
import { findDocuments, type SearchDeps } from '#rag/search/search.ts'
import type { Part } from '../content.ts'
import type { DocumentScope } from './answer-writer.ts'

export type DocumentChoice = 'auto' | 'off' | readonly string[]

type Deps = Pick<SearchDeps, 'db' | 'indexes'> & { requireGrant: Entitlements['require'] }

/**
 * Returns null where the answer reads no documents: they are off, or there are none. Documents in
 * the question's parts count as chosen.
 * @throws Problem 403 for chosen documents without the plan's grant
 */
export async function resolveScope(
  deps: Deps,
  caller: Caller,
  choice: DocumentChoice,
  parts: readonly Part[],
): Promise<DocumentScope | null> {
  if (choice === 'off') return null
  const named = parts.flatMap((part) => (part.type === 'document' ? [part.document_id] : []))
  const ids = [...(choice === 'auto' ? [] : choice), ...named].map(readDocumentId)
  const isChosen = ids.length > 0
  if (!mayRead(deps, caller, isChosen)) return null
  const conditions: Condition[] = isChosen ? [onlyDocuments(ids)] : []
  const documents = await findDocuments(deps, caller.userId, conditions)
  return documents.length === 0 && !isChosen ? null : { conditions, isChosen }
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
