export type RangeRequest = { first: number; last: number | null } | { suffix: number } | 'many'

/**
 * Parses a `Range` header (RFC 9110, 14.1.2). Returns null when it must be ignored, and `many` for
 * several ranges.
 */
export function parseRange(header: string | undefined): RangeRequest | null {
  const ranges = /^bytes=(.+)$/i.exec(header?.trim() ?? '')?.[1]
  if (!ranges) return null
  if (ranges.includes(',')) return 'many'
  const [, first = '', last = ''] = /^\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/.exec(ranges) ?? []
  if (first === '' && last === '') return null
  if (first === '') return { suffix: Number(last) }
  if (last !== '' && Number(last) < Number(first)) return null
  return { first: Number(first), last: last === '' ? null : Number(last) }
}

/** Returns the requested bytes [start, end); null when there are none (416). */
export function resolveRange(
  range: RangeRequest,
  sizeBytes: number,
): { start: number; end: number } | null {
  if (range === 'many') return null
  if ('suffix' in range) {
    return range.suffix === 0
      ? null
      : { start: Math.max(0, sizeBytes - range.suffix), end: sizeBytes }
  }
  if (range.first >= sizeBytes) return null
  return { start: range.first, end: Math.min(sizeBytes, (range.last ?? sizeBytes - 1) + 1) }
}

/** Returns true for a range that continues a download. */
export function isResume(range: RangeRequest | null): range is RangeRequest {
  return range !== null && range !== 'many' && !('first' in range && range.first === 0)
}
