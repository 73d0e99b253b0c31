/** A document's id, 12 hex characters, or that of a chunk of it, with the chunk's index behind an underscore; null for what is neither. */
export function parseDocumentId(text: string): { id: string; index: number | null } | null {
  const [, id, index] = /^([0-9a-f]{12})(?:_(0|[1-9]\d{0,8}))?$/.exec(text) ?? []
  if (id === undefined) return null
  return { id, index: index === undefined ? null : Number(index) }
}

/** @param id of a document or a chunk */
export function documentOf(id: string): string {
  return parseDocumentId(id)?.id ?? id
}
