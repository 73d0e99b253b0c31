/** Parses the id of a document (12 hex characters) or of a chunk (`…_7`); null otherwise. */
export function parseDocumentId(text: string): { id: string; index: number | null } | null {
  const [, id, index] = /^([0-9a-f]{12})(?:_(0|[1-9]\d{0,8}))?$/.exec(text) ?? []
  if (id === undefined) return null
  return { id, index: index === undefined ? null : Number(index) }
}

/** @param id of a document or of a chunk */
export function readDocumentId(id: string): string {
  return parseDocumentId(id)?.id ?? id
}
