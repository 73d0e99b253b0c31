// OpenDocument files (ISO/IEC 26300): texts, workbooks with a table per sheet, slides as pages.
// Formulas and charts are separate documents inside the package.
import { wordSet } from '#platform/words.ts'
import type { Outline } from '../outline.ts'
import type { Block } from './blocks.ts'
import { FormulaReader, type Script, ScriptedText } from './formulas.ts'
import { decodeXml, PART_MAX, resolvePath } from './office.ts'
import { markdownTable, TABLES_DEEP_MAX } from './table.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'
import { walkXml } from './xml.ts'
import { openZip, type Zip } from './zip.ts'

/** @throws Unreadable */
export function parseOpenDocument(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const manifest = zip.read('META-INF/manifest.xml', PART_MAX)
  if (manifest !== undefined && decodeXml(manifest).includes('encryption-data'))
    throw new Unreadable(
      'The document is encrypted and needs a password. Save it without one and send it again.',
    )
  const content = zip.read('content.xml', PART_MAX)
  if (content === undefined)
    throw new Unreadable('The file is not an OpenDocument file: it has no text part.')

  const warnings = new Set<string>()
  const reader = new ContentReader(zip, '', warnings)
  reader.readStyles(zip.read('styles.xml', PART_MAX))
  const { text, pages } = reader.read(decodeXml(content))
  return {
    text,
    ...(pages.length > 0 && { outline: { pages } }),
    warnings: [...warnings].map(toWarning),
  }
}

const toWarning = (reason: string): Warning => ({ page: null, reason })

type Paragraph = { text: ScriptedText; level: number }
/** Rows map columns to texts. */
type Table = {
  name: string
  rows: Map<number, string>[]
  row: Map<number, string>
  column: number
  cell: string[]
  columnRepeats: number
  rowRepeats: number
}
type Pages = NonNullable<Outline['pages']>

/** Limits of cells that repeat others; LibreOffice repeats empty cells to the edge of the sheet. */
const CELLS_MAX = 10_000_000
const REPEATED_MAX = 1_000
/** Rows of a sheet. */
const ROWS_MAX = 1_048_576
const HEADING_LEVEL_MAX = 6
const SPACES_MAX = 100
/** Levels of objects inside objects. */
const OBJECTS_DEEP_MAX = 3

/** Parts that are invisible in the finished document, or visible elsewhere. */
const skippedParts = wordSet(
  'tracked-changes annotation note-citation sequence-decls variable-decls user-field-decls',
  'forms index-title-template table-of-content-source bibliography-source',
  'alphabetical-index-source desc master-styles ruby-text deletion',
)

class ContentReader {
  #zip: Zip
  /** The folder of the document in the package; empty for the main document. */
  #folder: string
  #warnings: Set<string>
  #depth: number
  #style = ''
  #scripts = new Map<string, Script>()
  #blocks: Block[] = []
  #paragraphs: Paragraph[] = []
  #spans: Script[] = []
  #tables: Table[] = []
  #tooDeep = 0
  #lists = 0
  #skipped = 0
  #notes = 0
  #cells = 0
  #formula: FormulaReader | null = null
  #pages: { block: number; page: number }[] = []
  #isWorkbook = false
  #inTitle = false
  #inShapes = false
  /** Precedes the first paragraph of a slide's notes. */
  #notesMark = ''

  constructor(zip: Zip, folder: string, warnings: Set<string>, depth = 0) {
    this.#zip = zip
    this.#folder = folder
    this.#warnings = warnings
    this.#depth = depth
  }

  /** Finds raised and lowered styles, and whether pages have headers and footers. */
  readStyles(part: Uint8Array | undefined): void {
    if (part === undefined) return
    let inEdge = 0
    walkXml(decodeXml(part), {
      open: (name, attributes) => {
        if (name === 'header' || name === 'footer') inEdge++
        else this.#openStyle(name, attributes)
      },
      close: (name) => {
        if (name === 'header' || name === 'footer') inEdge--
      },
      text: (text) => {
        if (inEdge > 0 && text.trim() !== '')
          this.#warnings.add('Page headers and footers are left out.')
      },
    })
  }

  read(xml: string): { text: string; pages: Pages } {
    walkXml(xml, {
      open: (name, attributes) => {
        if (!this.#openStyle(name, attributes)) this.#open(name, attributes)
      },
      close: (name) => this.#close(name),
      text: (text) => this.#text(text),
    })
    for (const paragraph of this.#paragraphs.splice(0))
      this.#place(String(paragraph.text).trim(), false)
    // Tables that a damaged file leaves open are still written.
    this.#tooDeep = 0
    while (this.#tables.length > 0)
      for (const name of ['table-cell', 'table-row', 'table']) this.#closeInTable(name)
    return this.#joinBlocks()
  }

  #openStyle(name: string, attributes: () => Map<string, string>): boolean {
    if (name === 'style') this.#style = attributes().get('name') ?? ''
    else if (name === 'text-properties') {
      const position = attributes().get('text-position')
      if (position !== undefined) this.#scripts.set(this.#style, readPosition(position))
    } else return false
    return true
  }

  #open(name: string, attributes: () => Map<string, string>): void {
    if (this.#formula === null) this.#openSkipped(name)
    if (this.#skipped > 0) return
    if (name === 'math') this.#formula ??= new FormulaReader()
    if (this.#formula === null) this.#openElement(name, attributes)
    else this.#formula.open(name, (attribute) => attributes().get(attribute))
  }

  #openSkipped(name: string): void {
    if (skippedParts.has(name)) this.#skipped++
    if (name === 'annotation') this.#warnings.add('Comments are left out.')
  }

  #openElement(name: string, attributes: () => Map<string, string>): void {
    if (name === 'p') this.#openParagraph(Number(this.#inTitle))
    else if (name === 'h')
      this.#openParagraph(readNumber(attributes().get('outline-level'), HEADING_LEVEL_MAX))
    else if (name === 'span')
      this.#spans.push(this.#scripts.get(attributes().get('style-name') ?? '') ?? this.#script())
    else if (name === 's')
      this.#paragraphs.at(-1)?.text.add(' '.repeat(readNumber(attributes().get('c'), SPACES_MAX)))
    else if (name === 'tab') this.#addSpace('\t')
    else if (name === 'line-break') this.#addSpace('\n')
    else if (name === 'list') this.#lists++
    else if (name === 'note-body') this.#notes++
    else if (name === 'page')
      this.#pages.push({ block: this.#blocks.length, page: this.#pages.length + 1 })
    else if (name === 'notes') this.#notesMark = 'Notes: '
    else if (name === 'spreadsheet') this.#isWorkbook = true
    else if (name === 'shapes') this.#inShapes = true
    else if (name === 'frame') this.#inTitle = attributes().get('class') === 'title'
    else if (name === 'image') this.#openImage(attributes().get('href') ?? '')
    else if (name === 'object') this.#openObject(attributes().get('href') ?? '')
    else if (name === 'object-ole') this.#warnings.add('Embedded documents are left out.')
    else this.#openInTable(name, attributes)
  }

  #openParagraph(level: number): void {
    this.#paragraphs.push({ text: new ScriptedText(), level })
  }

  #addSpace(space: string): void {
    this.#paragraphs.at(-1)?.text.add(this.#tables.length > 0 ? ' ' : space)
  }

  /** Object replacements are saved pictures of objects that are read themselves. */
  #openImage(href: string): void {
    if (!href.includes('ObjectReplacements')) this.#warnings.add(PICTURES.reason)
  }

  #close(name: string): void {
    if (this.#formula === null && skippedParts.has(name)) {
      this.#skipped = Math.max(0, this.#skipped - 1)
      return
    }
    if (this.#skipped > 0) return
    if (this.#formula === null) {
      this.#closeElement(name)
      return
    }
    this.#formula.close(name)
    if (name !== 'math') return
    this.#write(this.#formula.end())
    this.#formula = null
  }

  #closeElement(name: string): void {
    if (name === 'p' || name === 'h') this.#closeParagraph()
    else if (name === 'span') this.#spans.pop()
    else if (name === 'notes') this.#notesMark = ''
    else if (name === 'shapes') this.#inShapes = false
    else if (name === 'frame') this.#inTitle = false
    else if (name === 'list') this.#lists = Math.max(0, this.#lists - 1)
    else if (name === 'note-body') this.#notes = Math.max(0, this.#notes - 1)
    else this.#closeInTable(name)
  }

  #text(text: string): void {
    if (this.#skipped > 0) return
    if (this.#formula !== null) this.#formula.text(text)
    else this.#paragraphs.at(-1)?.text.add(text.replace(/\s+/g, ' '), this.#script())
  }

  #script(): Script {
    return this.#spans.at(-1) ?? ''
  }

  /** Adds to the open paragraph, or creates one. */
  #write(text: string): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph) paragraph.text.add(text)
    else this.#place(text, false)
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (paragraph === undefined) return
    const text = String(paragraph.text)
      .replace(/[^\S\n\t]+/g, ' ')
      .trim()
    const around = this.#paragraphs.at(-1)
    if (this.#notes > 0 && around) around.text.add(text === '' ? '' : ` (${text})`)
    else if (paragraph.level > 0 && this.#tables.length === 0) {
      const line = text.replace(/\s+/g, ' ')
      this.#place(line === '' ? '' : `${'#'.repeat(paragraph.level)} ${line}`, false)
    } else if (this.#lists > 0 && this.#tables.length === 0)
      this.#place(
        text === ''
          ? ''
          : `${'  '.repeat(Math.min(8, this.#lists - 1))}- ${text.replace(/\s+/g, ' ')}`,
        true,
      )
    else this.#place(text, false)
  }

  #place(text: string, isItem: boolean): void {
    if (text === '') return
    const table = this.#tables.at(-1)
    if (table && !this.#inShapes) table.cell.push(text)
    else this.#blocks.push({ text: this.#notesMark + text, isItem })
    this.#notesMark = ''
  }

  #openInTable(name: string, attributes: () => Map<string, string>): void {
    if (name === 'table' && this.#tables.length === TABLES_DEEP_MAX) this.#tooDeep++
    if (this.#tooDeep > 0) return
    if (name === 'table') {
      const sheet = attributes().get('name') ?? ''
      this.#tables.push({
        name: sheet,
        rows: [],
        row: new Map(),
        column: 0,
        cell: [],
        columnRepeats: 1,
        rowRepeats: 1,
      })
      return
    }
    const table = this.#tables.at(-1)
    if (table === undefined) return
    if (name === 'table-row') {
      Object.assign(table, {
        row: new Map(),
        column: 0,
        rowRepeats: readNumber(attributes().get('number-rows-repeated'), ROWS_MAX),
      })
    } else if (isCell(name)) {
      Object.assign(table, {
        cell: [],
        columnRepeats: readNumber(attributes().get('number-columns-repeated'), ROWS_MAX),
      })
    }
  }

  #closeInTable(name: string): void {
    if (name === 'table' && this.#tooDeep > 0) {
      this.#tooDeep--
      return
    }
    const table = this.#tables.at(-1)
    if (table === undefined || this.#tooDeep > 0) return
    if (name === 'table') this.#closeTable()
    else if (isCell(name)) {
      const text = table.cell.join(' ')
      const repeats = text === '' ? 0 : Math.min(table.columnRepeats, REPEATED_MAX)
      this.#count(repeats)
      for (let i = 0; i < repeats; i++) table.row.set(table.column + i, text)
      table.column += table.columnRepeats
      table.cell = []
    } else if (name === 'table-row') {
      const { row } = table
      const repeats = row.size === 0 ? 0 : Math.min(table.rowRepeats, REPEATED_MAX)
      this.#count(repeats * row.size)
      for (let i = 0; i < repeats; i++) table.rows.push(row)
      table.row = new Map()
    }
  }

  #count(cells: number): void {
    this.#cells += cells
    if (this.#cells > CELLS_MAX)
      throw new Unreadable('The file has too many cells. Split it and send the parts.')
  }

  #closeTable(): void {
    const table = this.#tables.pop()
    if (table === undefined || table.rows.length === 0) return
    const { rows } = table
    if (this.#tables.length > 0) {
      this.#place(rows.map((row) => [...row.values()].join(', ')).join('; '), false)
      return
    }
    const used = new Set<number>()
    for (const row of rows) for (const column of row.keys()) used.add(column)
    const columns = [...used].sort((a, b) => a - b)
    // Counted before the table is built: a few cells far apart span a table larger than the memory.
    this.#count(rows.length * columns.length)
    // A table in a text has an invisible name, too.
    if (this.#isWorkbook && table.name !== '') this.#place(`# ${table.name}`, false)
    this.#place(markdownTable(rows.map((row) => columns.map((at) => row.get(at) ?? ''))), false)
  }

  /** Reads the formulas and charts inside the text. */
  #openObject(href: string): void {
    const folder = `${resolvePath(this.#folder, href)}/`
    const part =
      this.#depth < OBJECTS_DEEP_MAX ? this.#zip.read(`${folder}content.xml`, PART_MAX) : undefined
    if (part === undefined) {
      this.#warnings.add('Embedded documents are left out.')
      return
    }
    const reader = new ContentReader(this.#zip, folder, this.#warnings, this.#depth + 1)
    this.#write(reader.read(decodeXml(part)).text)
  }

  #joinBlocks(): { text: string; pages: Pages } {
    const pages: Pages = []
    let text = ''
    let next = 0
    for (const [i, block] of this.#blocks.entries()) {
      const before = this.#blocks[i - 1]
      const page = this.#pages[next]
      let begins: number | null = null
      for (; this.#pages[next] && (this.#pages[next]?.block ?? 0) <= i; next++)
        begins = this.#pages[next]?.page ?? null
      if (before) text += before.isItem && block.isItem && page?.block !== i ? '\n' : '\n\n'
      if (begins !== null) pages.push({ at: text.length, page: begins })
      text += block.text
    }
    return { text, pages }
  }
}

const isCell = (name: string) => name === 'table-cell' || name === 'covered-table-cell'

/** `super 58%`, `sub 58%`, or a shift in percent of the height. */
function readPosition(position: string): Script {
  const [place = ''] = position.split(' ')
  const raised = Number.parseFloat(place)
  return place === 'super' || raised > 0 ? '^' : place === 'sub' || raised < 0 ? '_' : ''
}

/** Returns a whole number from 1 to `max`, and 1 when there is none. */
function readNumber(value: string | undefined, max: number): number {
  return Math.min(max, Math.max(1, Math.trunc(Number(value)) || 1))
}
