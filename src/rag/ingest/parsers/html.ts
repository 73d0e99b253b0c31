// Web pages and EPUB chapters as Markdown: headings, lists, tables, code. Fetches and runs nothing.
// The trap: htmlparser2 implies end tags from the innermost open element alone, so elements without
// a meaning here must not be open.
import { Parser } from 'htmlparser2'
import { wordSet } from '#platform/words.ts'
import { type Block, joinBlocks } from './blocks.ts'
import { FormulaReader, mathElements, type Script, ScriptedText } from './formulas.ts'
import { parsePlainText } from './plain-text.ts'
import { markdownTable, TABLES_DEEP_MAX } from './table.ts'
import { PICTURES, type Reading, Unreadable } from './unreadable.ts'

export async function parseHtml(bytes: Uint8Array, ending = 'html'): Promise<Reading> {
  const { text, hasPictures } = htmlToMarkdown(await decodeHtml(bytes), {
    isXhtml: ending === 'xhtml',
  })
  return { text, warnings: hasPictures ? [PICTURES] : [] }
}

/** Uses the encoding that the page declares, unless its bytes contradict it. */
async function decodeHtml(bytes: Uint8Array): Promise<string> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString(
    'latin1',
  )
  const label = /<meta[^<>]{0,200}charset\s*=\s*["']?([\w-]{2,40})/i.exec(head)?.[1]
  const hasMark = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(head)
  if (label !== undefined && !hasMark && !/^utf-?16/i.test(label)) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes)
    } catch {
      // The label is unknown, or belongs to another encoding.
    }
  }
  return await parsePlainText(bytes)
}

const blocks = wordSet(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption',
  'figure footer form head header html legend main nav p section summary table tbody td tfoot',
  'th thead tr',
)
/** Elements with content that is invisible in the page. */
const hidden = wordSet(
  'title script style textarea noscript template svg iframe object datalist noembed noframes',
)
const HEADING = /^h[1-6]$/
const scripts: Record<string, Script> = { sup: '^', sub: '_' }
/** Inline elements with a meaning here. */
const inline = new Set([
  ...hidden,
  ...mathElements,
  ...Object.keys(scripts),
  'select',
  'optgroup',
  'option',
])
/** A cell spans rows only within its group. */
const rowGroups = new Set(['thead', 'tbody', 'tfoot'])
const breaksLine = (name: string) =>
  blocks.has(name) || HEADING.test(name) || /^(?:hr|li|ol|pre|ul)$/.test(name)

/** Limit of open elements: the parser searches all of them at each end tag. */
const OPEN_MAX = 50_000
/** Bounds empty cells: a few huge spans would make a table larger than the memory. */
const REACHED_MAX = 1_000_000
const SPAN_MAX = 1_000

type Table = {
  rows: string[][]
  cell: string[] | null
  /** How many columns and rows the cell spans. */
  columns: number
  down: number
  /** By column: the last row, from 1, that a cell of an earlier row covers. */
  takenUntil: number[]
}

type Attributes = Record<string, string>

/** @throws Unreadable for a page with too deeply nested elements */
export function htmlToMarkdown(
  html: string,
  { isXhtml = false } = {},
): { text: string; title: string; hasPictures: boolean } {
  const writer = new MarkdownWriter()
  let open = 0
  const parser = new PageParser(
    {
      onopentag(name, attributes) {
        if (++open > OPEN_MAX) throw new Unreadable('The page is nested too deeply to be read.')
        writer.open(localName(name), attributes)
      },
      onclosetag(name) {
        open--
        writer.close(localName(name))
      },
      ontext: (text) => writer.text(text),
    },
    { recognizeSelfClosing: isXhtml, recognizeCDATA: isXhtml },
  )
  parser.writer = writer
  parser.end(html)
  return writer.end()
}

/** XHTML may give its elements a prefix. */
const localName = (name: string) => name.slice(name.indexOf(':') + 1)

/** Other elements are void: an unclosed <b> would prevent the next <li> from closing the last. */
class PageParser extends Parser {
  writer: MarkdownWriter | null = null

  override isVoidElement(name: string): boolean {
    const local = localName(name)
    if (local === 'span' && this.writer?.isCountingSpans) return false
    return super.isVoidElement(name) || !(breaksLine(local) || inline.has(local))
  }
}

/** Writes a page's elements as Markdown, in their order. */
class MarkdownWriter {
  #parts: Block[] = []
  #tables: Table[] = []
  #lists: { isOrdered: boolean; count: number }[] = []
  #line = new ScriptedText()
  /** The open raised and lowered elements. */
  #scripts: Script[] = []
  #formula: FormulaReader | null = null
  /** True while only tags follow the last formula. */
  #isAfterFormula = false
  /** Spans opened since the last formula; null: no copy of a formula is expected. */
  #spans: number | null = null
  /** The number of open spans around the formula's copy that is being skipped. */
  #copyAt: number | null = null
  /** Separates the options of a list. */
  #comma = ''
  #prefix = ''
  #isItem = false
  /** How many such elements are open. */
  #pre = 0
  #hidden = 0
  #svg = 0
  #titles = 0
  /** Open tables beyond the deepest level that is read. */
  #tooDeep = 0
  #reached = 0
  #title = ''
  #hasPictures = false

  /** KaTeX repeats each formula as spans; only then does the parser report their ends. */
  get isCountingSpans(): boolean {
    return this.#spans !== null
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'span') this.#openSpan(attributes)
    if (name === 'title' && this.#svg === 0) this.#titles++
    if (name === 'svg') this.#svg++
    if (name === 'img' || (name === 'text' && this.#svg > 0)) this.#hasPictures = true
    if (hidden.has(name)) this.#hidden++
    if (this.#hidden > 0) return
    // As in browsers, such an element ends a formula that is left open.
    if (breaksLine(name)) this.#endFormula()
    if (name === 'math') this.#formula ??= new FormulaReader()
    if (this.#formula !== null) {
      this.#formula.open(name, (attribute) => attributes[attribute])
      return
    }
    const script = scripts[name]
    if (script !== undefined) this.#scripts.push(script)
    if (name === 'br') this.#line.add('\n')
    if (breaksLine(name)) this.#flush()
    if (HEADING.test(name)) this.#prefix = `${'#'.repeat(Number(name[1]))} `
    else if (name === 'pre') this.#pre++
    else if (name === 'ul' || name === 'ol')
      this.#lists.push({ isOrdered: name === 'ol', count: 0 })
    else if (name === 'li') this.#openItem()
    else if (name === 'select' || name === 'optgroup' || name === 'option')
      this.#openChoice(name, attributes)
    else this.#openInTable(name, attributes)
  }

  close(name: string): void {
    if (name === 'span') this.#closeSpan()
    if (name === 'title') this.#titles = Math.max(0, this.#titles - 1)
    if (name === 'svg') this.#svg--
    if (hidden.has(name)) this.#hidden--
    if (this.#hidden > 0) return
    if (this.#formula !== null) {
      this.#formula.close(name)
      if (name === 'math') this.#endFormula()
      return
    }
    if (name in scripts) this.#scripts.pop()
    if (breaksLine(name)) this.#flush()
    if (HEADING.test(name)) this.#prefix = ''
    else if (name === 'pre') this.#pre--
    else if (name === 'ul' || name === 'ol') {
      this.#lists.pop()
      this.#isItem = this.#lists.length > 0
    } else if (name === 'li') {
      this.#prefix = ''
      this.#isItem = this.#lists.length > 1
    } else this.#closeInTable(name)
  }

  text(text: string): void {
    if (this.#titles > 0) this.#title += text
    else if (this.#hidden > 0) return
    else if (this.#formula !== null) this.#formula.text(text)
    else this.#addText(text)
  }

  #addText(text: string): void {
    if (text.trim() !== '') this.#isAfterFormula = false
    this.#line.add(this.#pre > 0 ? text : text.replace(/\s+/g, ' '), this.#scripts.at(-1))
  }

  end(): { text: string; title: string; hasPictures: boolean } {
    this.#flush()
    const title = this.#title.replace(/\s+/g, ' ').trim()
    return { text: joinBlocks(this.#parts), title, hasPictures: this.#hasPictures }
  }

  #endFormula(): void {
    if (this.#formula === null) return
    const formula = this.#formula.end()
    this.#line.add(formula)
    this.#formula = null
    this.#isAfterFormula = formula !== ''
    this.#spans ??= 0
  }

  #openSpan(attributes: Attributes): void {
    if (this.#spans === null) return
    const isCopy = /(?:^|\s)katex-html(?:\s|$)/.test(attributes.class ?? '')
    if (isCopy && this.#isAfterFormula && this.#copyAt === null) {
      this.#copyAt = this.#spans
      this.#hidden++
    }
    this.#spans++
  }

  #closeSpan(): void {
    if (this.#spans === null) return
    this.#spans = Math.max(0, this.#spans - 1)
    if (this.#spans === this.#copyAt) {
      this.#hidden--
      this.#copyAt = null
    }
    if (this.#spans === 0) this.#spans = null
  }

  #flush(): void {
    const line = this.#line.toString()
    this.#line = new ScriptedText()
    const text = this.#pre > 0 ? line.replace(/^\n/, '').trimEnd() : folded(line)
    if (text === '') return
    this.#place(
      this.#pre > 0 && this.#tables.length === 0 ? `\`\`\`\n${text}\n\`\`\`` : this.#prefix + text,
    )
    this.#prefix = ''
  }

  #place(text: string): void {
    const cell = this.#tables.at(-1)?.cell
    if (cell) cell.push(text)
    else this.#parts.push({ text, isItem: this.#isItem })
  }

  #openItem(): void {
    const list = this.#lists.at(-1)
    const mark = list?.isOrdered ? `${++list.count}.` : '-'
    this.#prefix = `${'  '.repeat(Math.min(8, Math.max(0, this.#lists.length - 1)))}${mark} `
    this.#isItem = true
  }

  #openChoice(name: 'select' | 'optgroup' | 'option', { label = '' }: Attributes): void {
    if (name !== 'select') this.#line.add(this.#comma)
    if (name === 'optgroup') this.#line.add(`${label} `)
    this.#comma = name === 'option' ? ', ' : ''
  }

  #openInTable(name: string, attributes: Attributes): void {
    if (name === 'table' && this.#tables.length === TABLES_DEEP_MAX) this.#tooDeep++
    if (this.#tooDeep > 0) return
    if (name === 'table')
      this.#tables.push({ rows: [], cell: null, columns: 1, down: 1, takenUntil: [] })
    const table = this.#tables.at(-1)
    if (table === undefined) return
    if (rowGroups.has(name)) this.#endGroup(table)
    else if (name === 'tr') {
      this.#endCell(table)
      table.rows.push([])
    } else if (name === 'td' || name === 'th') {
      this.#endCell(table)
      table.cell = []
      table.columns = readSpan(attributes.colspan)
      table.down = attributes.rowspan === '0' ? SPAN_MAX : readSpan(attributes.rowspan)
    }
  }

  #closeInTable(name: string): void {
    if (name === 'table' && this.#tooDeep > 0) {
      this.#tooDeep--
      return
    }
    const table = this.#tables.at(-1)
    if (this.#tooDeep > 0 || table === undefined) return
    if (name === 'td' || name === 'th' || name === 'tr') this.#endCell(table)
    else if (rowGroups.has(name)) this.#endGroup(table)
    else if (name === 'table') {
      this.#endCell(table)
      this.#tables.pop()
      const text = tableText(table.rows, this.#tables.length > 0)
      if (text !== '') this.#place(text)
    }
  }

  #endGroup(table: Table): void {
    this.#endCell(table)
    table.takenUntil = []
  }

  #endCell(table: Table): void {
    if (table.cell === null) return
    if (table.rows.length === 0) table.rows.push([])
    const row = table.rows.at(-1) as string[]
    // The text of a spanning cell is in its first column and row; the others are empty.
    while (
      (table.takenUntil[row.length] ?? 0) >= table.rows.length &&
      this.#reached++ < REACHED_MAX
    )
      row.push('')
    for (let i = 0; i < table.columns && (i === 0 || this.#reached++ < REACHED_MAX); i++) {
      if (table.down > 1) table.takenUntil[row.length] = table.rows.length + table.down - 1
      row.push(i === 0 ? table.cell.join(' ') : '')
    }
    table.cell = null
  }
}

function readSpan(value: string | undefined): number {
  return Math.min(SPAN_MAX, Math.max(1, Math.trunc(Number(value)) || 1))
}

function folded(line: string): string {
  return line
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim()
}

/** A nested table becomes one line of its cell; a table for layout becomes paragraphs. */
function tableText(all: readonly string[][], isInner: boolean): string {
  const rows = all.filter((row) => row.some((cell) => cell.trim() !== ''))
  const filled = rows.map((row) => row.filter((cell) => cell.trim() !== ''))
  if (isInner) return filled.map((row) => row.join(', ')).join('; ')
  return filled.every((row) => row.length < 2) ? filled.flat().join('\n\n') : markdownTable(rows)
}
