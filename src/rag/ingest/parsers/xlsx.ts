/** Workbooks: a table per sheet. Dates, percentages and booleans are as Office shows them. */
import { readScript, type Script, ScriptedText } from './formulas.ts'
import { openGraphics } from './graphics.ts'
import { decodeXml, findMainPart, PART_MAX, readRelations } from './office.ts'
import { shapesText } from './shapes.ts'
import { formatNumber, type Shown, shownNumber } from './shown-numbers.ts'
import { markdownTable } from './table.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'
import { listElements, walkXml } from './xml.ts'
import { openZip, type Zip } from './zip.ts'

const CELLS_MAX = 5_000_000

export function parseXlsx(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const book = findMainPart(zip, 'xl/workbook.xml')
  const workbook = zip.read(book, PART_MAX)
  if (workbook === undefined) throw new Unreadable('The file is not an Excel workbook.')
  const relations = readRelations(zip, book)
  const findPart = (type: string) => {
    const target = relations.find((relation) => relation.type === type)?.target
    return target === undefined ? undefined : zip.read(target, PART_MAX)
  }
  const { sheets, is1904 } = readSheets(decodeXml(workbook))
  if (sheets.length === 0) throw new Unreadable('The file is not an Excel workbook.')
  const shared = readStrings(findPart('sharedStrings'))
  const formats = readFormats(findPart('styles'))
  const warnings: Warning[] = leftOut(zip)
  const graphicsLeftOut = new Set<string>()

  let cells = 0
  const texts = sheets.flatMap(({ name, id }) => {
    const target = relations.find((relation) => relation.id === id)?.target
    const part = target === undefined ? undefined : zip.read(target, PART_MAX)
    if (part === undefined) return []
    const { rows, isUncalculated } = readRows(
      decodeXml(part),
      { shared, formats, is1904 },
      CELLS_MAX - cells,
    )
    if (isUncalculated && !warnings.includes(UNCALCULATED)) warnings.push(UNCALCULATED)
    cells += rows.length * (rows[0]?.length ?? 0)
    const parts = [
      markdownTable(rows),
      ...readDrawingTexts(zip, target ?? '', graphicsLeftOut),
    ].filter((text) => text !== '')
    return parts.length === 0 ? [] : [`# ${name}\n\n${parts.join('\n\n')}`]
  })
  for (const reason of graphicsLeftOut) warnings.push({ page: null, reason })
  return { text: texts.join('\n\n'), warnings }
}

/** Written by a program that does not calculate, such as a library or an export. */
const UNCALCULATED: Warning = {
  page: null,
  reason:
    'Formulas whose results are not stored are left out. Open the workbook, save it, and send it again.',
}

function leftOut({ names }: Zip): Warning[] {
  const besides: [RegExp, string][] = [
    [/^xl\/media\//, PICTURES.reason],
    [/^xl\/(comments|threadedcomments)/, 'Comments are left out.'],
    [/^xl\/embeddings\//, 'Embedded documents are left out.'],
  ]
  return besides
    .filter(([part]) => names.some((name) => part.test(name)))
    .map(([, reason]) => ({ page: null, reason }))
}

/** Text boxes, shapes, diagrams and charts, whose numbers are in the cells. */
function readDrawingTexts(zip: Zip, sheet: string, leftOut: Set<string>): string[] {
  const drawings = readRelations(zip, sheet).filter(({ type }) => type === 'drawing')
  return drawings.map(({ target }) => {
    const part = zip.read(target, PART_MAX)
    const graphics = openGraphics(zip, target, { hasNumbers: false, leftOut })
    return part === undefined ? '' : shapesText(decodeXml(part), graphics)
  })
}

function readSheets(xml: string): { sheets: { name: string; id: string }[]; is1904: boolean } {
  const sheets = listElements(xml, 'sheet').map((sheet) => ({
    name: sheet.get('name') ?? '',
    id: sheet.get('id') ?? '',
  }))
  const properties = listElements(xml, 'workbookPr').at(-1)
  return { sheets, is1904: /^(1|true)$/.test(properties?.get('date1904') ?? '') }
}

function readStrings(part: Uint8Array | undefined): string[] {
  const strings: string[] = []
  if (part === undefined) return strings
  let string = new ScriptedText()
  let script: Script = ''
  let inText = false
  let inRuby = false
  walkXml(decodeXml(part), {
    open(name, attributes) {
      if (name === 'si') string = new ScriptedText()
      else if (name === 'r') script = ''
      else if (name === 'vertAlign') script = readScript(attributes().get('val'))
      else if (name === 'rPh') inRuby = true
      else if (name === 't') inText = true
    },
    close(name) {
      if (name === 't') inText = false
      else if (name === 'r') script = ''
      else if (name === 'rPh') inRuby = false
      else if (name === 'si') strings.push(string.toString())
    },
    text(text) {
      if (inText && !inRuby) string.add(text, script)
    },
  })
  return strings
}

/** Returns the number format of each style. */
function readFormats(part: Uint8Array | undefined): Shown[] {
  const own = new Map<number, string>()
  const styles: Shown[] = []
  if (part === undefined) return styles
  let inCells = false
  walkXml(decodeXml(part), {
    open(name, attributes) {
      if (name === 'numFmt')
        own.set(Number(attributes().get('numFmtId')), attributes().get('formatCode') ?? '')
      else if (name === 'cellXfs') inCells = true
      else if (name === 'xf' && inCells)
        styles.push(formatCell(Number(attributes().get('numFmtId') ?? 0), own))
    },
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return styles
}

function formatCell(id: number, own: Map<number, string>): Shown {
  if (id === 9 || id === 10) return 'percent'
  if (id >= 14 && id <= 17) return 'date'
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return 'time'
  if (id === 22) return 'moment'
  return formatNumber(own.get(id) ?? '')
}

type Book = { shared: string[]; formats: Shown[]; is1904: boolean }

/** Reads the rows without empty rows and columns. @throws Unreadable */
function readRows(
  xml: string,
  book: Book,
  cellsMax: number,
): { rows: string[][]; isUncalculated: boolean } {
  const rows: Map<number, string>[] = []
  let column = -1
  let cell = { type: '', style: 0 }
  let value = ''
  /** A text inside its cell; some of its runs may be raised. */
  let rich: ScriptedText | null = null
  let script: Script = ''
  let openText: 'v' | 't' | null = null
  let inRuby = false
  let hasFormula = false
  let isUncalculated = false
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        rows.push(new Map())
        column = -1
      } else if (name === 'c') {
        const fields = attributes()
        column = readColumn(fields.get('r')) ?? column + 1
        cell = { type: fields.get('t') ?? 'n', style: Number(fields.get('s') ?? 0) }
        value = ''
        rich = null
        hasFormula = false
      } else if (name === 'f') hasFormula = true
      else if (name === 'is') rich = new ScriptedText()
      else if (name === 'r') script = ''
      else if (name === 'vertAlign') script = readScript(attributes().get('val'))
      else if (name === 'rPh') inRuby = true
      else if (name === 'v' || name === 't') openText = name
    },
    close(name) {
      if (name === 'v' || name === 't') openText = null
      else if (name === 'rPh') inRuby = false
      else if (name === 'is') script = ''
      else if (name === 'c') {
        value += rich?.toString() ?? ''
        // A formula with an empty text as its result is marked as a text.
        if (hasFormula && value === '' && cell.type === 'n') isUncalculated = true
        const text = readText(value, cell, book)
        if (text.trim() !== '') rows.at(-1)?.set(column, text)
      }
    },
    text(text) {
      if (openText === null || inRuby) return
      if (rich !== null) rich.add(text, script)
      else value += text
    },
  })
  const filled = rows.filter(({ size }) => size > 0)
  const columns = [...new Set(filled.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b)
  // Checked before the table is built: a few cells far apart span a table larger than the memory.
  if (filled.length * columns.length > cellsMax)
    throw new Unreadable('The workbook has more than 5 million cells. Split it and send the parts.')
  return { rows: filled.map((row) => columns.map((at) => row.get(at) ?? '')), isUncalculated }
}

function readColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/i.exec(reference ?? '')?.[0].toUpperCase()
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function readText(
  value: string,
  { type, style }: { type: string; style: number },
  { shared, formats, is1904 }: Book,
) {
  if (type === 's') return shared[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type !== 'n') return value
  return shownNumber(value, formats[style] ?? 'number', is1904)
}
