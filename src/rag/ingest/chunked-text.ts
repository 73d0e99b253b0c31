import { createHash } from 'node:crypto'
import type { ChunkPlace } from '../documents/chunk-store.ts'
import { findBoundaries } from './boundaries.ts'
import { type ChunkSettings, findSpans } from './chunker.ts'
import { createPlaceFinder, type Outline } from './outline.ts'

export type ChunkedTextInfo = {
  id: string
  characters: number
  /** The number of chunks. */
  total: number
}

/** Some chunks with their places. */
export type Cut = { texts: string[]; places: ChunkPlace[] }

/** A text may have long stretches of white space, which are shortened. */
const GAP_MAX = 200

/** First 12 hex characters of the MD5 of the text. */
export const computeDocumentId = (text: string) =>
  createHash('md5').update(text, 'utf8').digest('hex').slice(0, 12)

/** Finds the places of the chunks; their texts are sliced on demand. */
export function createChunkedText(text: string, settings: ChunkSettings, outline: Outline = {}) {
  const boundaries = findBoundaries(text)
  const spans = findSpans(text, settings, boundaries)
  const placeOf = createPlaceFinder(text, boundaries, outline)
  const info: ChunkedTextInfo = {
    id: computeDocumentId(text),
    characters: text.length,
    total: spans.length / 2,
  }
  const readStart = (index: number) => spans[index * 2] as number
  const readEnd = (index: number) => (index < 0 ? 0 : (spans[index * 2 + 1] as number))
  return {
    info,
    slice(from: number, to: number): Cut {
      const cut: Cut = { texts: [], places: [] }
      for (let index = from; index < to; index++) {
        const start = readStart(index)
        const end = readEnd(index)
        const before = readEnd(index - 1)
        cut.texts.push(text.slice(start, end))
        cut.places.push({
          start,
          gap: text.slice(before, start).slice(0, GAP_MAX),
          ...placeOf(start, end, Math.max(start, before)),
        })
      }
      return cut
    },
  }
}
