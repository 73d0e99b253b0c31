/**
 * Reads fields of the processor's objects one by one, without trusting their shape: a field that is absent or of another type than expected
 * is null, and keeps nothing else from being read.
 */

export function readField(value: unknown, ...path: string[]): unknown {
  let inner: unknown = value
  for (const name of path)
    inner =
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string, unknown>)[name]
        : undefined
  return inner
}

export function readText(value: unknown, ...path: string[]): string | null {
  const found = readField(value, ...path)
  return typeof found === 'string' && found !== '' ? found : null
}

export function readNumber(value: unknown, ...path: string[]): number | null {
  const found = readField(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

/** The items of an array, or of one of the processor's lists; none where there is neither. */
export function readList(value: unknown): unknown[] {
  const items = Array.isArray(value) ? value : readField(value, 'data')
  return Array.isArray(items) ? items : []
}

/** An id, or an expanded object's id. */
export function readId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return readText(value, 'id')
}

/** Names those of these fields (paths with dots) that the object does not have. A field that is null is there. */
export function listMissingFields(object: unknown, fields: readonly string[]): string[] {
  return fields.filter((field) => {
    const path = field.split('.')
    const parent = readField(object, ...path.slice(0, -1))
    return parent !== null && readField(object, ...path) === undefined
  })
}
