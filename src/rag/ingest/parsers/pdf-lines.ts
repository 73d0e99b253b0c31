// Turns the pieces of a PDF page into paragraphs: lines by their baseline, words joined across line
// ends, without running headers and footers. The trap: rows of a statement, a list or a log look
// alike too, so lines that may be text stay.
import { LineScripts } from './pdf-scripts.ts'

export type Piece = {
  text: string
  /** Along and across the direction of writing, in points; y grows downwards. */
  x: number
  y: number
  width: number
  height: number
  /** The name in pdf.js, the same in the whole document; empty for pieces without a font. */
  font: string
}

export type Cell = { text: string; x: number; end: number }

export type Line = {
  text: string
  /** The text with a tab for each wide gap, also for gaps that are drawn as spaces. */
  columns: string
  /** The text between gaps wider than a sentence's spaces: possible cells of a table. */
  cells: Cell[]
  x: number
  end: number
  y: number
  height: number
  /** The height of its smallest letters. */
  heightMin: number
  /** Null where the line has several. */
  font: string | null
}

/** Pieces come in the order of drawing, which is the reading order for almost all producers. */
export function buildLines(pieces: Piece[]): Line[] {
  const lines: Line[] = []
  // Last fragments are remembered: searching the grown texts for their ends would be quadratic.
  let lineEnd = ''
  let cellEnd = ''
  let scripts: LineScripts | null = null
  for (const drawn of pieces) {
    const line = lines.at(-1)
    const size = Math.max(drawn.height, line?.height ?? 0) || 1
    if (line === undefined || !continuesLine(line, drawn, size)) {
      if (drawn.text.trim() !== '') {
        lines.push(createLine(drawn))
        lineEnd = cellEnd = drawn.text
        scripts = new LineScripts(drawn)
      }
      continue
    }
    const text: string = scripts?.read(drawn, drawn.x - line.end, lineEnd) ?? drawn.text
    addToCells(line, { ...drawn, text }, size, cellEnd)
    addToLine(line, { ...drawn, text }, size, lineEnd)
    if (text !== '') lineEnd = text
    if (text.trim() !== '') cellEnd = text
  }
  return lines
    .map((line) => ({
      ...line,
      text: line.text.trim(),
      columns: line.columns.trim(),
      cells: line.cells.map(trimCell),
    }))
    .filter(({ text }) => text !== '')
}

function createLine({ text, x, y, width, height, font }: Piece): Line {
  const end = x + width
  return {
    text,
    columns: text,
    cells: [{ text, x, end }],
    x,
    end,
    y,
    height,
    heightMin: height,
    font,
  }
}

function continuesLine(line: Line, { x, y }: Piece, size: number): boolean {
  return Math.abs(y - line.y) < size * 0.5 && x > line.x - size && x - line.end < size * 40
}

/** Tabs mark the wide gaps of a table or form, so that the chunker sees a row. */
function addToLine(
  line: Line,
  { text, x, width, height }: Piece,
  size: number,
  lineEnd: string,
): void {
  const gap = x - line.end
  const space = needsSpace(gap, size, lineEnd, text) ? ' ' : ''
  const isWide = gap > size * 2
  line.text += (space !== '' && isWide ? '\t' : space) + text
  if (text.trim() === '') line.columns += width > size * 2 ? '\t' : text
  else line.columns += (isWide ? '\t' : space) + text
  line.end = Math.max(line.end, x + width)
  line.height = Math.max(line.height, height)
}

function needsSpace(gap: number, size: number, before: string, text: string): boolean {
  return gap > size * 0.15 && !blankAtEnd.test(before) && !/^\s/.test(text)
}

const blankAtEnd = /(?<=\s)$/

/** Wider than a space of justified text. */
const CELL_GAP = 1

function addToCells(
  line: Line,
  { text, x, width, height, font }: Piece,
  size: number,
  cellEnd: string,
): void {
  if (text.trim() === '') return
  const cell = line.cells.at(-1) as Cell
  const gap = x - cell.end
  if (gap > size * CELL_GAP) line.cells.push({ text, x, end: x + width })
  else {
    cell.text += needsSpace(gap, size, cellEnd, text) ? ` ${text}` : text
    cell.end = Math.max(cell.end, x + width)
  }
  line.heightMin = Math.min(line.heightMin, height)
  if (font !== line.font) line.font = null
}

function trimCell({ text, x, end }: Cell): Cell {
  return { text: text.trim(), x, end }
}

/** Joins the text of one page. */
export function joinLines(lines: Line[]): string {
  const edges = findTextEdges(lines)
  let text = ''
  for (const [i, line] of lines.entries()) {
    const next = lines[i + 1]
    const between = next === undefined ? '' : separateLines(line, next, edges[i] ?? line.end)
    text += between === null ? line.text.slice(0, -1) : line.text + between
  }
  return text
}

/** Returns null where the line's hyphen is removed, because the word continues. */
function separateLines(before: Line, line: Line, edge: number): string | null {
  const size = Math.max(1, Math.min(line.height, before.height))
  const step = line.y - before.y
  const widest = Math.max(before.end - before.x, line.end - line.x)
  const isNewColumn = step < -size
  const isGap = step > Math.max(line.height, before.height) * 1.75
  const otherSize = Math.abs(line.height - before.height) > size * 0.2
  const isShort = before.end - before.x < widest * 0.75
  const isIndented = line.x - before.x > size * 0.8 && line.x - before.x < size * 4 && !isNewColumn

  if (
    !isGap &&
    !otherSize &&
    /\p{Ll}[-\u00ad\u2010]$/u.test(before.text) &&
    /^\p{Ll}/u.test(line.text)
  )
    return null
  const endsSentence = /[.!?:。！？]["'”’)\]]*$/.test(before.text)
  if (isGap || otherSize || (isIndented && endsSentence)) return '\n\n'
  if (isNewColumn) return endsSentence ? '\n\n' : glue(before.text, line.text)
  if (isShort || isIndented || before.text.includes('\t') || line.text.includes('\t')) return '\n'
  return isRow(before, line, edge) ? '\n' : glue(before.text, line.text)
}

/** The end of the longest line; Infinity where the others are rows, as it is one, too. */
function findTextEdges(lines: Line[]): number[] {
  const edges: number[] = []
  let from = 0
  for (const [i, line] of lines.entries()) {
    const next = lines[i + 1]
    const size = Math.max(1, line.height)
    const goesOn =
      next !== undefined &&
      next.y > line.y &&
      next.y - line.y < size * 1.75 &&
      Math.abs(next.x - line.x) < size * 4 &&
      Math.abs(next.height - line.height) < size * 0.2
    if (goesOn) continue
    const text = lines.slice(from, i + 1)
    const longest = text.reduce((most, { end }) => Math.max(most, end), 0)
    const edge = isList(text, longest) ? Number.POSITIVE_INFINITY : longest
    while (edges.length <= i) edges.push(edge)
    from = i + 1
  }
  return edges
}

function isList(lines: Line[], edge: number): boolean {
  const full = lines.filter(({ end, height }) => end > edge - height / 2)
  return (
    lines.length >= LIST_MIN &&
    full.length === 1 &&
    lines
      .slice(1)
      .every((line, i) => full.includes(lines[i] as Line) || isRow(lines[i] as Line, line, edge))
  )
}

/** Fewer lines may be short by chance. */
const LIST_MIN = 4

/** A date, a time, an amount or a long number: the start of a row. */
const rowStart = /^(?:\d[\d.:,/T-]*\d\S*|[#№]\d+)(?=\s)/

const readStart = ({ text }: Line) => rowStart.exec(text.slice(0, 60))?.[0]

/** The line ended despite free space: a row of a statement, a log or a list, not prose. */
function isRow(before: Line, line: Line, edge: number): boolean {
  const shape = (text: string) => text.replace(/\d+/g, '0')
  if (/\d/.test(line.text) && shape(before.text) === shape(line.text)) return true
  const start = readStart(line)
  if (start !== undefined && start.length > 3 && shape(readStart(before) ?? '') === shape(start))
    return true
  // The width of the next word is an estimate, because letters differ.
  const word = unspaced.test(line.text[0] ?? '')
    ? line.text.slice(0, 4)
    : (/^\S+/.exec(line.text)?.[0] ?? '')
  const width = ((line.end - line.x) / line.text.length) * word.length
  return before.end + width * 1.4 + line.height < edge
}

const unspaced = /[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]/

/** Scripts without spaces get none at a line's end. */
function glue(left: string, right: string): string {
  return unspaced.test(left.at(-1) ?? '') && unspaced.test(right[0] ?? '') ? '' : ' '
}

export type Page = {
  /** From 1, in the order of the file. */
  number: number
  /** The y of the upper and lower edge of the page's box, in the coordinates of the lines. */
  top: number
  bottom: number
  lines: Line[]
}

const PAGES_MIN = 4
/** How far a running line's position may vary, in points. */
const DRIFT = 4
/** Headers and footers are less of any real text; beyond that share, lines are no headers. */
const SHARE_MAX = 0.05

/**
 * Removes headers and footers: lines among the first or last two of their pages, at the same height
 * on most pages, with the same text or an increasing page number. Exceptions: a page without other
 * text, a text of which they are more than a twentieth, and the first occurrence of a line with a
 * fact.
 */
export function dropRunningLines(pages: Page[]): Line[][] {
  const all = pages.map(({ lines }) => lines)
  if (pages.length < PAGES_MIN) return all

  const places = new Map<string, { page: number; height: number }[]>()
  const edges = pages.map((page) => findEdges(page))
  for (const [i, edge] of edges.entries()) {
    for (const { keys, height } of edge) {
      for (const key of keys) {
        const seen = places.get(key) ?? []
        seen.push({ page: i, height })
        places.set(key, seen)
      }
    }
  }
  const running = new Map<string, number>()
  for (const [key, seen] of places) {
    const height = findCommonHeight(seen, pages.length)
    if (height !== undefined) running.set(key, height)
  }

  const seenKeys = new Set<string>()
  const remaining = pages.map(({ lines }, i) => {
    const removed = new Set<Line>()
    for (const { line, keys, height } of edges[i] ?? []) {
      const key = keys.find((one) => Math.abs(height - (running.get(one) ?? Infinity)) <= DRIFT)
      if (key === undefined) continue
      if (seenKeys.has(key) || !fact.test(key)) removed.add(line)
      seenKeys.add(key)
    }
    return removed.size === lines.length ? lines : lines.filter((line) => !removed.has(line))
  })
  const before = countInk(all)
  return before - countInk(remaining) > before * SHARE_MAX ? all : remaining
}

/** "Patient: Ada Lovelace", "IBAN DE89 3704 0044": stays where it first occurs. */
const fact = /\p{L}: ?[^\s\0]|\d{5}|\d[\d ./-]{6,}\d|@/u

function countInk(pages: Line[][]): number {
  return pages.flat().reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0)
}

/** Returns the height of a line that more than half of the pages have. */
function findCommonHeight(
  seen: { page: number; height: number }[],
  pages: number,
): number | undefined {
  if (seen.length <= pages / 2) return undefined
  const heights = seen.map(({ height }) => height).sort((a, b) => a - b)
  const middle = heights[heights.length >> 1] as number
  const there = new Set(
    seen.filter(({ height }) => Math.abs(height - middle) <= DRIFT).map(({ page }) => page),
  )
  return there.size > pages / 2 ? middle : undefined
}

type Edge = {
  line: Line
  /** The distance from the page's edge. */
  height: number
  /** Compared across pages: the text, or the text around a page number. */
  keys: string[]
}

const EDGE_LINES = 2

function findEdges({ number, top, bottom, lines }: Page): Edge[] {
  const levels: Line[][] = []
  for (const line of lines.toSorted((a, b) => a.y - b.y)) {
    const level = levels.at(-1)
    if (level?.[0] !== undefined && line.y - level[0].y < line.height / 2) level.push(line)
    else levels.push([line])
  }
  const edge = (line: Line, isFoot: boolean): Edge => ({
    line,
    height: isFoot ? bottom - line.y : line.y - top,
    keys: findKeys(line.columns, number, isFoot).map((key) => `${isFoot ? 'foot' : 'head'} ${key}`),
  })
  return [
    ...levels.slice(0, EDGE_LINES).flatMap((level) => level.map((line) => edge(line, false))),
    ...levels.slice(-EDGE_LINES).flatMap((level) => level.map((line) => edge(line, true))),
  ]
}

/** Larger offsets are as often invoice or ticket numbers as a journal's page numbers. */
const OFFSET_MAX = 30
const pageWord =
  /(?:\b(?:page|pg|p|seite|s|página|pagina|pág|pag|side|sida|sidan|sivu|strona|strana|str|oldal|sayfa|trang)|стр|страница|σελ|σελίδα|หน้า|第)[.:]?\s*[-–—]?\s*$/iu
const pageCounter = /^\s*(?:页|頁|ページ|쪽|페이지)/u
const separated = /(?:^|[\t|·•–—])\s*$/u
const separates = /^\s*(?:$|[\t|·•–—])/u

/** Headers and footers are shorter than this. */
const RUNNING_MAX = 300

function findKeys(line: string, page: number, isFoot: boolean): string[] {
  if (line.length > RUNNING_MAX) return []
  const text = line.replace(/ *\t\s*/g, '\t').replace(/[^\S\t]+/g, ' ')
  const keys: string[] = []
  // The names of a table's columns are no running line, though every page repeats them.
  if (text.split('\t').length < 3) keys.push(text)
  for (const match of text.matchAll(
    /(?<![\d\p{L}])(?<!\d[-.,:/])\d{1,5}(?![\d\p{L}])(?![-.,:]\d)/gu,
  )) {
    const before = text.slice(0, match.index)
    const after = text.slice(match.index + match[0].length)
    const offset = Number(match[0]) - page
    if (isPageNumber(before, after, offset, isFoot)) keys.push(`${before}\0${after} ${offset}`)
  }
  return keys
}

/** "Page 3 of 12", "3 / 12", "– 3 –", "3 | Annual report"; not "Invoice 12" or "Total: 3". */
function isPageNumber(before: string, after: string, offset: number, isFoot: boolean): boolean {
  if (pageWord.test(before) || pageCounter.test(after)) return true
  const isAlone =
    !/[\p{L}\d]/u.test(before) &&
    /^[^\p{L}\d]*(?:(?:\/|of|von|de|di|из|van|av|z)\s*\d+[^\p{L}\d]*)?$/iu.test(after)
  if (isAlone) return isFoot || Math.abs(offset) <= OFFSET_MAX
  if (Math.abs(offset) > OFFSET_MAX) return false
  if (separated.test(before) && separates.test(after)) return true
  // In a footer, a line like "3 vouchers" may be the total of the page.
  return !isFoot && before === '' && /^ \p{L}/u.test(after)
}
