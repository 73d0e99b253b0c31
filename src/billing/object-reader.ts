/**
 * Reads single fields of the processor's objects without trusting their shape. A field that is
 * absent or has an unexpected type is null and does not affect the other fields.
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

/** Returns the items of an array or of a processor's list; otherwise an empty array. */
export function readList(value: unknown): unknown[] {
  const items = Array.isArray(value) ? value : readField(value, 'data')
  return Array.isArray(items) ? items : []
}

/** Returns an id, or the id of an expanded object. */
export function readId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return readText(value, 'id')
}

/** Returns the fields (dotted paths) that the object lacks. A null field is present. */
export function listMissingFields(object: unknown, fields: readonly string[]): string[] {
  return fields.filter((field) => {
    const path = field.split('.')
    const parent = readField(object, ...path.slice(0, -1))
    return parent !== null && readField(object, ...path) === undefined
  })
}
