import { invalid } from '#platform/problems.ts'
import type { Metadata } from '../tables.ts'

/** Keys that the service sets; a client's values under these names are ignored. */
const RESERVED = new Set(['user_id', 'chunk_index', 'total_chunks'])
const BYTES_MAX = 65_536
const DEPTH_MAX = 20

/** @throws Problem 422 when too large or deep, or with NUL, which PostgreSQL rejects */
export function checkMetadata(metadata: Metadata): Metadata {
  if (measureDepth(metadata, 0) > DEPTH_MAX)
    throw invalid(['body', 'metadata'], `Should be nested at most ${DEPTH_MAX} deep`)
  const text = JSON.stringify(metadata)
  if (Buffer.byteLength(text) > BYTES_MAX)
    throw invalid(['body', 'metadata'], 'Should have at most 64 KB')
  if (text.includes('\\u0000'))
    throw invalid(['body', 'metadata'], 'Should not hold the character NUL')
  return Object.fromEntries(
    Object.entries(replaceLoneSurrogates(metadata) as Metadata).filter(
      ([key]) => !RESERVED.has(key),
    ),
  )
}

/** JSON's escapes allow lone surrogates in keys and values; PostgreSQL rejects them. */
function replaceLoneSurrogates(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(replaceLoneSurrogates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), replaceLoneSurrogates(inner)]),
  )
}

export const EXTERNAL_ID_MAX = 512

/** Returns null for none. @throws Problem 422 when it is too long or contains NUL */
export function checkExternalId(id: string | undefined): string | null {
  if (id === undefined || id === '') return null
  if (id.length > EXTERNAL_ID_MAX)
    throw invalid(
      ['body', 'external_id'],
      `Should have at most ${EXTERNAL_ID_MAX} characters`,
      'string_too_long',
    )
  if (id.includes('\0')) throw invalid(['body', 'external_id'], 'Should not hold the character NUL')
  return id.toWellFormed()
}

function measureDepth(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return depth
  return Object.values(value).reduce(
    (deepest: number, inner) => Math.max(deepest, measureDepth(inner, depth + 1)),
    depth + 1,
  )
}

/** Returns the name without path and control characters, at most 255 characters. */
export function fileName(name: string): string {
  const clean = removeControls(name.split(/[\\/]/).at(-1) ?? '')
  const ending = /\.[^.]{1,16}$/.exec(clean)?.[0] ?? ''
  return clean.length <= 255 ? clean : clean.slice(0, 255 - ending.length) + ending
}

export const SOURCE_MAX = 512

/** Returns the name or path of a file as its source. @throws Problem 422 */
export function checkSource(source: string): string {
  const clean = removeControls(source)
  if (clean === '') throw invalid(['body', 'source'], 'Should not be empty', 'string_too_short')
  if (clean.length > SOURCE_MAX)
    throw invalid(
      ['body', 'source'],
      `Should have at most ${SOURCE_MAX} characters`,
      'string_too_long',
    )
  return clean
}

/** Characters that end a line or reverse its direction would make a name look like another. */
function removeControls(name: string): string {
  return name
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '')
    .toWellFormed()
    .trim()
}
