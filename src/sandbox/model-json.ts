/** Reads untrusted bodies. */
export type Json = Record<string, unknown>

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function asArray(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

/** Returns a string, or the joined texts of its parts. */
export function readText(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}

export function readLimit(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : Number.POSITIVE_INFINITY
}

export function readStops(value: unknown): string[] {
  return [value ?? []].flat().filter((one) => typeof one === 'string')
}
