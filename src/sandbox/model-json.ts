/** Reading bodies that may hold anything. */
export type Json = Record<string, unknown>

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function arrayOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

/** A string, or the texts of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return arrayOf(content)
    .flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}

export function limitOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : Number.POSITIVE_INFINITY
}

export function stopsOf(value: unknown): string[] {
  return [value ?? []].flat().filter((one) => typeof one === 'string')
}
