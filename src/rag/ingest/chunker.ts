// Cuts a text into overlapping chunks, exact slices that start and end where a reader would pause.
// `size` is a hard limit in UTF-16 units. Linear: a window reaches back at most `size`, and each
// chunk adds at least a tenth of `size` in new text.
import { isSpace } from '#embeddings/sentences.ts'
import {
  type Boundaries,
  Clause,
  findBoundaries,
  Heading,
  Paragraph,
  Sentence,
} from './boundaries.ts'

export type ChunkSettings = {
  /** The most UTF-16 units per chunk. */
  size: number
  /** The most that a chunk repeats of the one before it; less than `size`. */
  overlap: number
}

export type Chunk = { start: number; end: number; text: string }

/** The least share of `size` to fill: a paragraph's end justifies less than a comma. */
const minFills = { [Heading]: 0.5, [Paragraph]: 0.6, [Sentence]: 0.3, [Clause]: 0.5 }
const FILL_MIN = 0.3
const NEW_TEXT_MIN = 0.1

/** Covers all the text in order, except white space at the chunks' edges. */
export function* chunks(
  text: string,
  { size, overlap }: ChunkSettings,
  boundaries: Boundaries = findBoundaries(text),
): Generator<Chunk> {
  const repeat = Math.min(overlap, Math.floor(size * (1 - NEW_TEXT_MIN)))
  const inked = trimEnd(text, 0, text.length)
  let start = skipSpace(text, 0)
  let covered = start

  while (start < inked) {
    const end = inked - start <= size ? inked : findEnd(text, boundaries, start, covered, size)
    const inkEnd = trimEnd(text, start, end)
    if (inkEnd > start) yield { start, end: inkEnd, text: text.slice(start, inkEnd) }

    covered = skipSpace(text, end)
    if (covered >= inked) return
    start = findStart(text, boundaries, { start, end: inkEnd, covered, size, repeat })
  }
}

export function chunkText(text: string, settings: ChunkSettings): Chunk[] {
  return [...chunks(text, settings)]
}

/** Returns the chunks as pairs of start and end. */
export function findSpans(
  text: string,
  settings: ChunkSettings,
  boundaries?: Boundaries,
): Int32Array {
  const spans: number[] = []
  for (const { start, end } of chunks(text, settings, boundaries)) spans.push(start, end)
  return Int32Array.from(spans)
}

function findEnd(
  text: string,
  boundaries: Boundaries,
  start: number,
  covered: number,
  size: number,
): number {
  const ceiling = start + size
  // White space before the place will be trimmed, so a sentence that fills the chunk exactly fits.
  const reach = skipSpace(text, ceiling)
  const floor = Math.min(
    Math.max(start + Math.floor(size * FILL_MIN), covered + Math.ceil(size * NEW_TEXT_MIN)),
    ceiling,
  )

  const last = findLastBoundary(boundaries, reach)
  for (const level of [Heading, Paragraph, Sentence, Clause] as const) {
    const least = Math.max(start + Math.floor(size * minFills[level]), floor)
    for (let i = last; i >= 0 && (boundaries.at[i] as number) >= least; i--) {
      if ((boundaries.strength[i] as number) < level) continue
      const at = boundaries.at[i] as number
      if (trimEnd(text, start, at) > ceiling) continue
      return level === Clause ? avoidBlock(boundaries, at, covered, size) : at
    }
  }
  return avoidBlock(boundaries, findWordEnd(text, floor, ceiling, reach), covered, size)
}

/** Code or a table that fits into one chunk is not cut: the chunk ends before it. */
function avoidBlock({ blocks }: Boundaries, at: number, covered: number, size: number): number {
  let low = 0
  let high = blocks.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle * 2 + 1] as number) <= at) low = middle + 1
    else high = middle
  }
  const start = blocks[low * 2]
  const end = blocks[low * 2 + 1]
  if (start === undefined || end === undefined) return at
  return start < at && end - start <= size && start > covered ? start : at
}

type PreviousChunk = { start: number; end: number; covered: number; size: number; repeat: number }

/** At most `repeat` before the end of the last, at the earliest pause within that range. */
function findStart(
  text: string,
  boundaries: Boundaries,
  { start, end, covered, size, repeat }: PreviousChunk,
): number {
  if (repeat === 0) return covered
  const block = findBlockEnd(boundaries, covered)
  const roomFor = block !== undefined && block - covered <= size ? block - size : 0
  // After much white space less is repeated: the chunk must extend beyond it.
  const reaching = covered + Math.ceil(size * NEW_TEXT_MIN) - size
  const earliest = Math.max(end - repeat, reaching, start + 1, roomFor)
  if (earliest >= end) return covered

  const from = findLastBoundary(boundaries, earliest - 1) + 1
  for (const level of [Sentence, Clause]) {
    for (let i = from; i < boundaries.at.length && (boundaries.at[i] as number) < end; i++) {
      if ((boundaries.strength[i] as number) >= level) return boundaries.at[i] as number
    }
  }
  for (let i = earliest; i < end - 1; i++)
    if (isSpace(text.charCodeAt(i))) return skipSpace(text, i)
  return findGraphemeStart(text, earliest, end) ?? covered
}

/** Returns the end of the block that starts at `at`, if any. */
function findBlockEnd({ blocks }: Boundaries, at: number): number | undefined {
  let low = 0
  let high = blocks.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle * 2] as number) < at) low = middle + 1
    else high = middle
  }
  return blocks[low * 2] === at ? blocks[low * 2 + 1] : undefined
}

/** Returns the index of the last boundary at or before `limit`, or -1. */
function findLastBoundary({ at }: Boundaries, limit: number): number {
  let low = 0
  let high = at.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((at[middle] as number) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Created on first use: loading their data takes 20 ms. */
const segmenters: { word?: Intl.Segmenter; grapheme?: Intl.Segmenter } = {}
const getSegmenter = (granularity: 'word' | 'grapheme') => {
  segmenters[granularity] ??= new Intl.Segmenter(undefined, { granularity })
  return segmenters[granularity]
}
/** Bounds the share of Intl.Segmenter, which is slow, in texts without spaces. */
const SEGMENT_REACH = 64

/** Returns the last place between words: by dictionary without spaces, else by grapheme. */
function findWordEnd(text: string, floor: number, ceiling: number, reach: number): number {
  if (reach > ceiling) return reach
  for (let i = ceiling; i > floor; i--) if (isSpace(text.charCodeAt(i - 1))) return i

  const from = alignToCodePoint(text, Math.max(floor, ceiling - SEGMENT_REACH))
  const window = text.slice(from, ceiling + SEGMENT_REACH)
  const segmenter = getSegmenter(/[\p{L}\p{M}]/u.test(window) ? 'word' : 'grapheme')
  return (
    findLastSegmentStart(segmenter, window, from, ceiling) ??
    findLastSegmentStart(getSegmenter('grapheme'), window, from, ceiling) ??
    alignToCodePoint(text, ceiling)
  )
}

function findLastSegmentStart(
  segmenter: Intl.Segmenter,
  window: string,
  from: number,
  ceiling: number,
): number | undefined {
  let best: number | undefined
  for (const { index } of segmenter.segment(window)) {
    if (from + index > ceiling) break
    if (index > 0) best = from + index
  }
  return best
}

function findGraphemeStart(text: string, earliest: number, end: number): number | undefined {
  const from = alignToCodePoint(text, earliest)
  for (const { index } of getSegmenter('grapheme').segment(
    text.slice(from, Math.min(end, from + SEGMENT_REACH)),
  )) {
    // The window's first "grapheme" may be the end of one that began before it.
    if (index > 0 && from + index >= earliest) return from + index
  }
  return undefined
}

/** Returns `at`, or one less inside a surrogate pair. */
function alignToCodePoint(text: string, at: number): number {
  const code = text.charCodeAt(at)
  const before = text.charCodeAt(at - 1)
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff ? at - 1 : at
}

function skipSpace(text: string, from: number): number {
  let i = from
  while (i < text.length && isSpace(text.charCodeAt(i))) i++
  return i
}

function trimEnd(text: string, from: number, to: number): number {
  let i = to
  while (i > from && isSpace(text.charCodeAt(i - 1))) i--
  return i
}
