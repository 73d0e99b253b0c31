/** Documents as resources, which a person selects: `rag://documents/{id}`, always as text. */
import { Problem } from '#platform/problem.ts'
import type { RagDeps } from '../deps.ts'
import { readDocumentText } from '../documents/document-text.ts'
import { type DocumentView, listDocuments } from '../documents/documents.ts'
import { parseDocumentId } from '../documents/ids.ts'
import { buildTitle, parseCursor, writeCursor } from './documents.ts'
import { INVALID_PARAMS, type Params, RESOURCE_NOT_FOUND, RpcError } from './protocol.ts'

const URI_PREFIX = 'rag://documents/'
const MIME_TYPE = 'text/plain'
const PAGE = 100
/** A reply is built in memory, and a client passes it whole to its model. */
const CHARACTERS_MAX = 4_000_000

export const TEMPLATES = [
  {
    uriTemplate: `${URI_PREFIX}{id}`,
    name: 'document',
    title: 'A stored document',
    description:
      'The text of a document, by the `document_id` that `search` and `list_documents` return.',
    mimeType: MIME_TYPE,
  },
]

/** @throws RpcError for an invalid cursor */
export async function listResources(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  params: Params,
): Promise<object> {
  const after = parseCursor(params.cursor)
  const { documents } = await listDocuments(db, userId, { limit: PAGE + 1, after })
  const shown = documents.slice(0, PAGE)
  const last = documents.length > PAGE ? shown.at(-1) : undefined
  return { resources: shown.map(buildResource), ...(last && { nextCursor: writeCursor(last) }) }
}

function buildResource({ id, source, metadata, created_at }: DocumentView): object {
  const title = buildTitle(id, { ...metadata, ...(source !== null && { source }) })
  return {
    uri: URI_PREFIX + id,
    name: title,
    title,
    mimeType: MIME_TYPE,
    annotations: { lastModified: created_at },
  }
}

/** @throws RpcError for a missing document, or one longer than a reply allows */
export async function readResource(
  deps: Pick<RagDeps, 'db'>,
  userId: string,
  { uri }: Params,
  { isModern }: { isModern: boolean },
): Promise<object> {
  if (typeof uri !== 'string')
    throw new RpcError(INVALID_PARAMS, 'Invalid params: uri should be a string')
  const id = uri.startsWith(URI_PREFIX) ? uri.slice(URI_PREFIX.length) : ''
  const notFound = () =>
    new RpcError(isModern ? INVALID_PARAMS : RESOURCE_NOT_FOUND, 'Resource not found', {
      data: { uri },
    })
  if (parseDocumentId(id)?.index !== null) throw notFound()

  const { text, next } = await readDocumentText(deps, userId, id, CHARACTERS_MAX).catch((error) => {
    throw error instanceof Problem && error.status === 404 ? notFound() : error
  })
  if (next !== null) {
    const says =
      'Invalid params: the document is too long for one reply; read it in parts by the tool fetch'
    throw new RpcError(INVALID_PARAMS, says, { data: { uri } })
  }
  return { contents: [{ uri, mimeType: MIME_TYPE, text }] }
}
