/** A document for the protocol's clients: its title, its address for citations, its cursor. */
import { isObject } from '#platform/json.ts'
import type { DocumentPlace } from '../documents/document-order.ts'
import type { DocumentView } from '../documents/documents.ts'
import { parseDocumentId, readDocumentId } from '../documents/ids.ts'
import type { Metadata } from '../tables.ts'
import { INVALID_PARAMS, RpcError } from './protocol.ts'

const TITLE_MAX = 200

/** The metadata's `title`, the file's name, or the id; one line, for a client's own text. */
export function buildTitle(id: string, { title, source }: Metadata): string {
  const named = [title, source].find(
    (one): one is string => typeof one === 'string' && one.trim() !== '',
  )
  const line = named
    ?.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, TITLE_MAX)
    .toWellFormed()
  return line || `Document ${readDocumentId(id)}`
}

/** The metadata's `url` where it is a web address, else the user app's list. */
export function buildUrl(appUrl: string, id: string, { url }: Metadata): string {
  if (
    typeof url === 'string' &&
    URL.canParse(url) &&
    ['http:', 'https:'].includes(new URL(url).protocol)
  )
    return url
  return `${appUrl}/documents#${readDocumentId(id)}`
}

/** Returns the cursor after this document. Opaque to clients. */
export function writeCursor({ created_at, id }: Pick<DocumentView, 'created_at' | 'id'>): string {
  return Buffer.from(JSON.stringify({ created_at, id })).toString('base64url')
}

/** @throws RpcError for an invalid cursor */
export function parseCursor(cursor: unknown): DocumentPlace | null {
  if (cursor === undefined) return null
  const { created_at, id } = fromBase64(cursor)
  if (!isInstant(created_at) || typeof id !== 'string' || parseDocumentId(id)?.index !== null)
    throw new RpcError(INVALID_PARAMS, 'Invalid params: no such cursor')
  return { value: created_at, id }
}

/** The clock's format only: others that JavaScript accepts are errors in the database. */
function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !/^20\d\d-.{18}Z$/.test(value)) return false
  return !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value
}

function fromBase64(cursor: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
