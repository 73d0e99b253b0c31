import type { Chunk } from '../api/types.ts'

/** Returns a passage's place in its file: `p. 3–4`, `Terms › Notice`. */
export function formatPlace({ metadata }: Pick<Chunk, 'metadata'>): {
  pages: string | null
  heading: string | null
} {
  const { page, page_end, heading } = metadata
  const from = typeof page === 'number' ? page : null
  const to = typeof page_end === 'number' && page_end !== from ? `–${page_end}` : ''
  return {
    pages: from === null ? null : `p. ${from}${to}`,
    heading: typeof heading === 'string' && heading !== '' ? heading : null,
  }
}
