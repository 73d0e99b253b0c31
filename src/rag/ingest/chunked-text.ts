import { createHash } from 'node:crypto'
import { type ChunkSettings, spansOf } from './chunker.ts'

export type ChunkedTextInfo = {
  /** First 12 hex characters of the MD5 of the text. */
  id: string
  characters: number
  /** Of chunks. */
  total: number
}

/** Finds where the chunks are; their texts are cut out when they are asked for. */
export function chunkedText(text: string, settings: ChunkSettings) {
  const spans = spansOf(text, settings)
  const info: ChunkedTextInfo = {
    id: createHash('md5').update(text, 'utf8').digest('hex').slice(0, 12),
    characters: text.length,
    total: spans.length / 2,
  }
  return {
    info,
    slice: (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) =>
        text.slice(spans[(from + i) * 2] as number, spans[(from + i) * 2 + 1] as number),
      ),
  }
}
