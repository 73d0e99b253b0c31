/** Orders of a list of documents, and cursors: the place of the last row of a page in its order. */
import { type ReferenceExpression, sql } from 'kysely'
import type { Tables } from '#platform/db/tables.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDocumentsTable } from '../tables.ts'
import { parseDocumentId } from './ids.ts'

export const SORTS = ['date', 'name', 'size'] as const
export const DIRECTIONS = ['asc', 'desc'] as const

export type DocumentOrder = {
  by: (typeof SORTS)[number]
  direction: (typeof DIRECTIONS)[number]
}
/** `value`: the row's time, name or size; rows with the same value are ordered by id. */
export type DocumentPlace = { value: string | number; id: string }

export const NEWEST_FIRST: DocumentOrder = { by: 'date', direction: 'desc' }

type SortedRow = Pick<RagDocumentsTable, 'id' | 'created_at' | 'characters'> & { name_key: string }

/** Names are compared without case; a text without a name comes first. */
export const NAME_KEY = sql<string>`lower(coalesce(source, ''))`

/** Returns the SQL expression of an order. */
export function buildSortKey({ by }: DocumentOrder): ReferenceExpression<Tables, 'rag_documents'> {
  if (by === 'name') return NAME_KEY
  return by === 'size' ? 'characters' : 'created_at'
}

export function encodeDocumentCursor({ by, direction }: DocumentOrder, row: SortedRow): string {
  const value = by === 'name' ? row.name_key : by === 'size' ? row.characters : row.created_at
  return Buffer.from(JSON.stringify([by, direction, value, row.id])).toString('base64url')
}

/** @throws Problem 422 for a cursor of another list */
export function readDocumentCursor(order: DocumentOrder, cursor: string): DocumentPlace {
  const place = parsePlace(order, cursor)
  if (place === null) throw invalid(['query', 'cursor'], 'Unknown cursor')
  return place
}

function parsePlace({ by, direction }: DocumentOrder, cursor: string): DocumentPlace | null {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return null
  }
  if (!Array.isArray(parts) || parts.length !== 4) return null
  const [ofSort, ofDirection, value, id] = parts as unknown[]
  if (ofSort !== by || ofDirection !== direction || typeof id !== 'string') return null
  if (parseDocumentId(id)?.index !== null || !isValue(by, value)) return null
  return { value, id }
}

const INSTANT = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function isValue(by: DocumentOrder['by'], value: unknown): value is string | number {
  if (by === 'size') return Number.isSafeInteger(value)
  if (typeof value !== 'string' || value.includes('\0')) return false
  return by === 'name' || (INSTANT.test(value) && !Number.isNaN(Date.parse(value)))
}
