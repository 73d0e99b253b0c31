// Derives headings, tables and paragraphs of a PDF from its lines. A heading is larger or heavier
// than the text and separate from it, or is a bookmark. No line is lost or moved.
import type { Outline } from '../outline.ts'
import { joinLines, type Line } from './pdf-lines.ts'
import { findTables, type Span, type Table } from './pdf-tables.ts'
import { markdownRow, markdownTable } from './table.ts'
import type { Heading } from './unreadable.ts'

/** The most common font and size of a text. */
export type Body = { height: number; font: string | null }

export type PageLines = { page: number; lines: Line[] }

/** An entry in the file's table of contents, and its page. */
export type Bookmark = { title: string; level: number; page: number }

type Block = { text: string; heading?: Omit<Heading, 'at'>; table?: Table }

export function findBody(pages: PageLines[]): Body {
  const heights = new Map<number, number>()
  const fonts = new Map<string | null, number>()
  for (const { height, font, text } of pages.flatMap(({ lines }) => lines)) {
    heights.set(rounded(height), (heights.get(rounded(height)) ?? 0) + text.length)
    fonts.set(font, (fonts.get(font) ?? 0) + text.length)
  }
  return { height: findMostCommon(heights) ?? 0, font: findMostCommon(fonts) ?? null }
}

function findMostCommon<T>(counts: Map<T, number>): T | undefined {
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

const rounded = (height: number) => Math.round(height * 2) / 2

/** @param bold the bold fonts */
export function writeText(
  pages: PageLines[],
  body: Body,
  bold: ReadonlySet<string>,
  bookmarks: Bookmark[],
): { text: string; outline: Outline } {
  const titles = findTitles(pages, body, bold, bookmarks)
  const starts: { at: number; page: number }[] = []
  const headings: Heading[] = []
  const texts: string[] = []
  let length = 0
  let last: Block | undefined
  for (const { page, lines } of pages) {
    const blocks = splitBlocks(lines, titles, last?.table?.columns ?? null)
    for (const [i, block] of blocks.entries()) {
      if (last !== undefined) {
        texts.push(block.table?.goesOn ? '\n' : '\n\n')
        length += block.table?.goesOn ? 1 : 2
      }
      if (i === 0) starts.push({ at: length, page })
      if (block.heading) headings.push({ at: length, ...block.heading })
      texts.push(block.text)
      length += block.text.length
      last = block
    }
  }
  return { text: texts.join(''), outline: { pages: starts, headings } }
}

type Title = { level: number; lines: Line[] }
/** By the first line of each title. */
type Titles = ReadonlyMap<Line, Title>

function splitBlocks(lines: Line[], titles: Titles, carried: Span[] | null): Block[] {
  const blocks: Block[] = []
  const tables = new Map(findTables(lines, carried).map((table) => [table.from, table]))
  let run: Line[] = []
  const endRun = () => {
    if (run.length > 0) blocks.push({ text: joinLines(run) })
    run = []
  }
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as Line
    const table = tables.get(i)
    const title = titles.get(line)
    if (table !== undefined) {
      endRun()
      blocks.push({ text: writeTable(table), table })
      i = table.to - 1
    } else if (title !== undefined) {
      endRun()
      blocks.push(writeHeading(title))
      i += title.lines.length - 1
    } else run.push(line)
  }
  endRun()
  return blocks
}

function writeTable({ rows, columns, goesOn }: Table): string {
  return goesOn
    ? rows.map((row) => markdownRow(row, columns.length)).join('\n')
    : markdownTable(rows)
}

function writeHeading({ level, lines }: Title): Block {
  const title = joinLines(lines).replace(/\s+/g, ' ')
  return { text: `${'#'.repeat(level)} ${title}`, heading: { level, title } }
}

const LEVEL_MAX = 6
const TITLE_MAX = 150
const TITLE_LINES_MAX = 3
/** Above this share of all lines, larger lines are text, too. */
const LARGE_SHARE_MAX = 0.4

function findTitles(
  pages: PageLines[],
  body: Body,
  bold: ReadonlySet<string>,
  bookmarks: Bookmark[],
): Titles {
  const found = pages.flatMap(({ lines }) => findTitleRuns(lines, body, bold))
  const counts = Map.groupBy(found.flat(), ({ height }) => rounded(height))
  const count = pages.reduce((sum, { lines }) => sum + lines.length, 0)
  const styled = found.filter(
    ([line]) => (counts.get(readHeight(line))?.length ?? 0) <= Math.max(1, count * LARGE_SHARE_MAX),
  )

  const heights = [...new Set(styled.map(([line]) => readHeight(line)))].sort((a, b) => b - a)
  const ranks = new Map(heights.map((height, i) => [height, i]))
  const depths = new Map<number, number>()
  for (const [line] of styled) {
    const height = readHeight(line)
    if (readDepth(line) > 0)
      depths.set(height, Math.min(depths.get(height) ?? LEVEL_MAX, readDepth(line)))
  }
  const titles = new Map<Line, Title>()
  for (const lines of styled) {
    const height = readHeight(lines[0])
    const level =
      1 + (ranks.get(height) ?? 0) + Math.max(0, readDepth(lines[0]) - (depths.get(height) ?? 0))
    titles.set(lines[0] as Line, { level: Math.min(LEVEL_MAX, level), lines })
  }
  addBookmarked(titles, pages, bookmarks)
  return titles
}

const readHeight = (line: Line | undefined) => rounded(line?.height ?? 0)

/** Returns 1 for "2 Method", 2 for "2.1 Samples", 0 for a line without a number. */
function readDepth(line: Line | undefined): number {
  return /^\d{1,2}(?:\.\d{1,2}){0,4}(?=\.?\s)/.exec(line?.text ?? '')?.[0].split('.').length ?? 0
}

/** Returns runs of lines that have the look of a title. */
function findTitleRuns(lines: Line[], body: Body, bold: ReadonlySet<string>): Line[][] {
  const runs: Line[][] = []
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as Line
    const isLarge = line.heightMin >= body.height * 1.15
    const isBold = line.font !== null && bold.has(line.font)
    if (!isLikeTitle(line) || !(isLarge || (isBold && standsAlone(lines, i, body)))) continue
    const run = [line]
    while (continuesTitle(run.at(-1) as Line, lines[i + 1])) run.push(lines[++i] as Line)
    const length = run.reduce((sum, { text }) => sum + text.length, 0)
    const isText = startsParagraph(run.at(-1) as Line, lines[i + 1])
    if (run.length <= TITLE_LINES_MAX && length <= TITLE_MAX && !isText) runs.push(run)
  }
  return runs
}

/** Returns whether the next line belongs to the same title. */
function continuesTitle(line: Line, next: Line | undefined): boolean {
  if (
    next === undefined ||
    next.font !== line.font ||
    rounded(next.height) !== rounded(line.height)
  )
    return false
  const step = next.y - line.y
  return (
    step > line.height * 0.5 &&
    step < line.height * 1.6 &&
    next.cells.length === 1 &&
    readDepth(next) === 0
  )
}

/** Returns whether the next line continues a paragraph that starts here. */
function startsParagraph(line: Line, next: Line | undefined): boolean {
  const step = next === undefined ? 0 : next.y - line.y
  return next !== undefined && step > 0 && step < line.height * 1.6 && /^\p{Ll}/u.test(next.text)
}

const caption = /^(?:figure|fig|table|abbildung|abb|tabelle|tab|figura|tableau|tabla)\b\.? ?\d/i
const leader = /[.·…_]{4,}|(?:[.·…] ){3,}/

function isLikeTitle({ text, cells }: Line): boolean {
  const isOne =
    cells.length === 1 || (cells.length === 2 && /^[\dA-Z.]{1,8}$/.test(cells[0]?.text ?? ''))
  return (
    isOne &&
    text.length <= TITLE_MAX &&
    /\p{L}{2}/u.test(text) &&
    /^[\p{Lu}\p{Lo}\p{Lt}\d§"“„«(¿¡]/u.test(text) &&
    !/[.,;:]$|\p{Ll}[-\u00ad\u2010]$|@|:\/\//u.test(text) &&
    !caption.test(text) &&
    !leader.test(text)
  )
}

/** Returns whether a line is separate from, and above, a text in another font. */
function standsAlone(lines: Line[], i: number, body: Body): boolean {
  const line = lines[i] as Line
  const before = lines[i - 1]
  const next = lines[i + 1]
  if (line.heightMin < body.height * 0.95 || line.font === body.font || line.text.length > 80)
    return false
  const below = next === undefined ? 0 : next.y - line.y
  if (
    next === undefined ||
    next.font === line.font ||
    below < line.height * 0.5 ||
    below > line.height * 3.5
  )
    return false
  const above = before === undefined ? Infinity : line.y - before.y
  return above < 0 || above > Math.max(line.height * 1.45, below * 0.9)
}

/** Returns fonts of lines that are headings if the font is bold, each with one of its pages. */
export function findDoubtfulFonts(pages: PageLines[], body: Body): Map<string, number> {
  const fonts = new Map<string, number>()
  for (const { page, lines } of pages) {
    for (const [i, line] of lines.entries()) {
      if (line.font && !fonts.has(line.font) && isLikeTitle(line) && standsAlone(lines, i, body))
        fonts.set(line.font, page)
    }
  }
  return fonts
}

/** A bookmark's title is a heading in any font. */
function addBookmarked(titles: Map<Line, Title>, pages: PageLines[], bookmarks: Bookmark[]): void {
  const byPage = Map.groupBy(bookmarks, ({ page }) => page)
  for (const { page, lines } of pages) {
    const targets = (byPage.get(page) ?? []).map((bookmark) => ({
      ...bookmark,
      name: normalizeTitle(bookmark.title),
    }))
    const named = findNamedLines(
      lines,
      new Set(targets.map(({ name }) => name).filter((name) => name !== '')),
    )
    for (const { name, level } of targets) {
      const run = named.get(name)
      const first = run?.[0]
      if (run === undefined || first === undefined) continue
      for (const line of run) titles.delete(line)
      titles.set(first, { level: Math.min(LEVEL_MAX, level), lines: run })
    }
  }
}

/** Returns the first lines with each name, in one pass for any number of names. */
function findNamedLines(lines: Line[], names: ReadonlySet<string>): Map<string, Line[]> {
  const found = new Map<string, Line[]>()
  const longest = [...names].reduce((most, { length }) => Math.max(most, length), 0)
  for (let i = 0; i < lines.length && found.size < names.size; i++) {
    for (let count = 1; count <= TITLE_LINES_MAX && i + count <= lines.length; count++) {
      const run = lines.slice(i, i + count)
      const text = normalizeTitle(run.map(({ text }) => text).join(' '))
      if (text.length > longest) break
      if (names.has(text) && !found.has(text)) found.set(text, run)
    }
  }
  return found
}

/** Returns letters and digits only, without the number of the section. */
function normalizeTitle(title: string): string {
  const bare = title
    .normalize('NFKC')
    .replace(/^\s*(?:\d{1,3}(?:\.\d{1,3})*|[IVX]+|[A-Z])[.)]?\s+/, '')
  return bare.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
