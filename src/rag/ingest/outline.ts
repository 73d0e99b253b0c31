// Locates the pages, headings and tables of a text, so that each chunk has its place. Without a
// parser's outline, headings are read from the text as Markdown.
import type { ChunkPlace } from '../documents/chunk-store.ts'
import { BELOW } from '../headings.ts'
import type { PageStart } from '../tables.ts'
import type { Boundaries } from './boundaries.ts'
import type { Heading, Outline } from './parsers/unreadable.ts'

export type { Outline }

const TITLE_MAX = 120
const TABLE_HEADER_MAX = 500

/** Returns a finder of a chunk's pages, headings and table header, by its first new text. */
export function createPlaceFinder(
  text: string,
  boundaries: Boundaries,
  { pages = [], headings = null }: Outline,
) {
  const sections = headings ?? readHeadings(text, boundaries.headings)
  const paths = buildPaths(sections)
  const { tables } = boundaries

  return (start: number, end: number, fresh: number): Omit<ChunkPlace, 'start' | 'gap'> => {
    const section = findLastIndex(sections.length, (i) => (sections[i] as Heading).at, fresh)
    return {
      page: findPage(start),
      pageEnd: findPage(end - 1),
      pageStarts: listPageStarts(start, end),
      heading: section < 0 ? null : (paths[section] as string),
      tableHeader: findTableHeader(start),
    }
  }

  function findPage(at: number): number | null {
    const i = findLastIndex(pages.length, (i) => (pages[i] as { at: number }).at, at)
    return pages[Math.max(i, 0)]?.page ?? null
  }

  function listPageStarts(start: number, end: number): PageStart[] {
    const first = findLastIndex(pages.length, (i) => (pages[i] as PageStart).at, start) + 1
    const last = findLastIndex(pages.length, (i) => (pages[i] as PageStart).at, end - 1)
    return pages.slice(Math.max(first, 1), last + 1)
  }

  /** Returns the header of the table around `at`, below that header. */
  function findTableHeader(at: number): string | null {
    const i = findLastIndex(tables.length / 3, (i) => tables[i * 3] as number, at)
    if (i < 0) return null
    const [from, headEnd, end] = tables.subarray(i * 3, i * 3 + 3) as unknown as [
      number,
      number,
      number,
    ]
    return at >= headEnd && at < end && headEnd - from <= TABLE_HEADER_MAX
      ? text.slice(from, headEnd).trim()
      : null
  }
}

function readHeadings(text: string, lines: Int32Array): Heading[] {
  return Array.from(lines, (at) => {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, Math.min(end < 0 ? text.length : end, at + 1_000)).trim()
    const level = /^#*/.exec(line)?.[0].length ?? 0
    return { at, level, title: line.slice(level).replace(/\s#+$/, '') }
  })
}

/** `Terms › Notice`: a heading after the headings above it. */
function buildPaths(headings: Heading[]): string[] {
  const above: Heading[] = []
  return headings.map((heading) => {
    while (above.length > 0 && (above.at(-1) as Heading).level >= heading.level) above.pop()
    above.push({
      ...heading,
      title: heading.title.replace(/\s+/g, ' ').trim().slice(0, TITLE_MAX).toWellFormed(),
    })
    return above
      .map(({ title }) => title)
      .filter((title) => title !== '')
      .join(BELOW)
  })
}

/** Returns the index of the last of `count` ascending offsets up to `limit`, or -1. */
function findLastIndex(
  count: number,
  readOffset: (index: number) => number,
  limit: number,
): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (readOffset(middle) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}
