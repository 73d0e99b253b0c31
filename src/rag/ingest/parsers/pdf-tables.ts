// Finds tables among the lines of a PDF page: a header, aligned columns and short cells, since a
// PDF does not mark them. The trap: text in two columns, lists and leaders look like tables.
import type { Cell, Line } from './pdf-lines.ts'

export type Span = { x: number; end: number }

export type Table = {
  /** The range of its lines. */
  from: number
  to: number
  /** In the order of drawing; the first row is the header. */
  rows: string[][]
  columns: Span[]
  /** Continues the table of the page before, without a header. */
  goesOn: boolean
}

const COLUMNS_MAX = 16
/** Beyond this many aligned lines without a table, the search goes on behind them. */
const RETRY_MAX = 40

/** @param carried the columns of the table at the end of the page before */
export function findTables(lines: Line[], carried: Span[] | null): Table[] {
  const tables: Table[] = []
  let i = 0
  while (i < lines.length) {
    const region = findRegion(lines, i)
    const goesOn = i === 0 && carried !== null && continues(region.columns, carried)
    const hasOwnHead = isTable(region, false)
    if (hasOwnHead || (goesOn && isTable(region, true))) {
      const rows = region.lines.map((line) => readRow(line, region.columns))
      tables.push({
        from: i,
        to: i + region.lines.length,
        rows,
        columns: region.columns,
        goesOn: !hasOwnHead,
      })
      i += region.lines.length
    } else i += region.lines.length > RETRY_MAX ? region.lines.length : 1
  }
  return tables
}

type Region = { lines: Line[]; columns: Span[] }

/** Returns the lines from there on whose cells fit into the same columns. */
function findRegion(lines: Line[], from: number): Region {
  const first = lines[from] as Line
  if (first.cells.length > COLUMNS_MAX) return { lines: [first], columns: [] }
  let columns = first.cells.map(({ x, end }) => ({ x, end }))
  let last = { i: from, columns }
  if (first.cells.length < 2) return { lines: [first], columns }
  for (let i = from + 1; i < lines.length; i++) {
    const line = lines[i] as Line
    const before = lines[i - 1] as Line
    const size = Math.max(line.height, before.height, 1)
    const step = line.y - before.y
    const grown = step < size * 0.5 || step > size * 4 ? null : fitRow(columns, line)
    if (grown === null) break
    columns = grown
    // Lines of one cell below the table do not belong to it.
    if (line.cells.length > 1) last = { i, columns }
  }
  return { lines: lines.slice(from, last.i + 1), columns: last.columns }
}

/** Null where a cell spans two columns, or two cells are in one. */
function fitRow(columns: Span[], { cells, height }: Line): Span[] | null {
  if (cells.length > COLUMNS_MAX) return null
  const gutter = height * 0.3
  const grown = columns.map((column) => ({ ...column }))
  const filledColumns = new Set<Span>()
  for (const { x, end } of cells) {
    const met = grown.filter((column) => x < column.end + gutter && end > column.x - gutter)
    const [column] = met
    if (met.length > 1 || (column !== undefined && filledColumns.has(column))) return null
    if (column === undefined) {
      const added = { x, end }
      filledColumns.add(added)
      grown.push(added)
      continue
    }
    filledColumns.add(column)
    column.x = Math.min(column.x, x)
    column.end = Math.max(column.end, end)
  }
  return grown.length > COLUMNS_MAX ? null : grown.sort((a, b) => a.x - b.x)
}

function findColumn(columns: Span[], cell: Cell): number {
  return columns.findIndex((column) => cell.x < column.end && cell.end > column.x)
}

function readRow(line: Line, columns: Span[]): string[] {
  const row = columns.map(() => '')
  for (const cell of line.cells) {
    const i = Math.max(0, findColumn(columns, cell))
    row[i] = row[i] === '' ? cell.text : `${row[i]} ${cell.text}`
  }
  return row
}

function continues(columns: Span[], carried: Span[]): boolean {
  return (
    columns.length === carried.length &&
    columns.every(
      (column, i) => column.x < (carried[i]?.end ?? 0) && column.end > (carried[i]?.x ?? 0),
    )
  )
}

/** Lengths of a column's cells; longer cells are prose. */
const SHORT_MAX = 20
const LONG_MAX = 90
const leader = /[.·…_]{4,}|(?:[.·…] ){3,}/
const bullet = /^(?:[-–—•◦▪■●○‣·*§o]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])$/

function isTable({ lines, columns }: Region, goesOn: boolean): boolean {
  const body = goesOn ? lines : lines.slice(1)
  const rowsMin = goesOn ? 1 : columns.length === 2 ? 3 : 2
  if (columns.length < 2 || body.length < rowsMin) return false
  if (body.filter(({ cells }) => cells.length > 1).length < body.length * 0.6) return false
  const cells = columns.map((_, i) =>
    body.flatMap((line) => line.cells.filter((cell) => findColumn(columns, cell) === i)),
  )
  if (cells.flat().length < body.length * columns.length * 0.55) return false
  if (lines.some((line) => leader.test(line.text))) return false
  if (
    cells.some(
      (column) => column.filter(({ text }) => bullet.test(text)).length > column.length / 2,
    )
  )
    return false
  const lengths = cells.map(
    (column) => column.reduce((sum, { text }) => sum + text.length, 0) / column.length,
  )
  if (Math.min(...lengths) > SHORT_MAX || Math.max(...lengths) > LONG_MAX) return false
  const size = lines[0]?.height ?? 1
  if (!cells.every((column) => isAligned(column, size))) return false
  return goesOn || hasHead(lines, columns, cells)
}

/** Returns true when most cells share their left edge, right edge or middle. */
function isAligned(column: Cell[], size: number): boolean {
  if (column.length < 2) return true
  const anchors = [({ x }: Cell) => x, ({ end }: Cell) => end, ({ x, end }: Cell) => (x + end) / 2]
  return anchors.some((anchorOf) => {
    const places = column.map(anchorOf).sort((a, b) => a - b)
    const middle = places[places.length >> 1] as number
    return (
      places.filter((place) => Math.abs(place - middle) <= size * 0.6).length >=
      column.length * 0.75
    )
  })
}

/** Names all columns but one, and differs from the rows by letters, space or digits. */
function hasHead(lines: Line[], columns: Span[], body: Cell[][]): boolean {
  const [head, first] = lines as [Line, Line]
  const names = head.cells.map(({ text }) => text)
  if (names.length < Math.max(2, columns.length - 1) || new Set(names).size < names.length)
    return false
  if (names.some((name) => name.length > 40 || /[.;,]$/.test(name.replace(/\b\p{L}{1,4}\.$/u, ''))))
    return false
  const isOwnFont = head.font !== null && lines.slice(1).every(({ font }) => font !== head.font)
  if (names.some((name) => /\d/.test(name)))
    return isOwnFont && !names.every((name) => /^[\d.,]+$/.test(name))
  const steps = lines.slice(2).map((line, i) => line.y - (lines[i + 1] as Line).y)
  const usual = steps.sort((a, b) => a - b)[steps.length >> 1] ?? 0
  const isApart = usual > 0 && first.y - head.y > usual * 1.2
  const hasNumbers = body.some(
    (column) =>
      column.length >= 2 &&
      column.filter(({ text }) => /\d/.test(text)).length > column.length * 0.6,
  )
  return isOwnFont || isApart || hasNumbers
}
