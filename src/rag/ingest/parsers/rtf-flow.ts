/** Paragraphs, lists and tables of one flow of an RTF document: its body, a note, a text box. */
import { type Block, joinBlocks } from './blocks.ts'
import { type Script, ScriptedText } from './formulas.ts'
import { markdownTable } from './table.ts'

/** The style of a paragraph at its end. */
export type ParagraphStyle = {
  /** 1 to 6; 0 for text. */
  heading: number
  /** The depth of a list item, from 0; null outside of lists. */
  listLevel: number | null
  /** 0 outside of tables, 2 in a table within a cell. */
  tableDepth: number
}

type Row = {
  cells: string[]
  /** The right edges of the cells in twips, as the row defines them. */
  edges: number[]
}

export class RtfFlow {
  #blocks: Block[] = []
  #text = new ScriptedText()
  /** The number or bullet of a list item. */
  #label = ''
  #rows: Row[] = []
  #cells: string[] = []
  /** The paragraphs of the open cell. */
  #cell: string[] = []
  #innerRows: string[][] = []
  #innerCells: string[] = []
  #innerCell: string[] = []

  addText(text: string, script: Script): void {
    this.#text.add(text, script)
  }

  addLabel(text: string): void {
    if (this.#label.length < LABEL_MAX) this.#label += text
  }

  /** Adds the text of a box before the paragraph with its anchor. */
  addBox(text: string, tableDepth: number): void {
    if (text === '') return
    if (tableDepth > 0) this.#addToCell(text, tableDepth)
    else this.#addBlock(text, false)
  }

  endParagraph({ heading, listLevel, tableDepth }: ParagraphStyle): void {
    const text = this.#takeText()
    const label = this.#label.trim()
    this.#label = ''
    if (text === '') return
    const numbered = NUMBER.test(label) ? `${label} ${text}` : text
    if (tableDepth > 0) this.#addToCell(numbered, tableDepth)
    else if (heading > 0)
      this.#addBlock(`${'#'.repeat(heading)} ${numbered.replace(/\s+/g, ' ')}`, false)
    else this.#addParagraph(text, label, listLevel)
  }

  endCell(style: ParagraphStyle): void {
    this.endParagraph({ ...style, tableDepth: 1 })
    this.#endInnerTable()
    this.#cells.push(this.#cell.join(' '))
    this.#cell = []
  }

  endRow(edges: number[]): void {
    this.#rows.push({ cells: this.#cells, edges })
    this.#cells = []
  }

  /** A table in a cell becomes one line of the cell. Deeper tables join the first one. */
  endInnerCell(style: ParagraphStyle): void {
    this.endParagraph({ ...style, tableDepth: 2 })
    if (this.#innerCell.length > 0) this.#innerCells.push(this.#innerCell.join(' '))
    this.#innerCell = []
  }

  endInnerRow(): void {
    if (this.#innerCells.length > 0) this.#innerRows.push(this.#innerCells)
    this.#innerCells = []
  }

  /** Returns the whole text, including rows and paragraphs that a damaged file leaves open. */
  end(style: ParagraphStyle): string {
    this.endParagraph(style)
    this.#endInnerTable()
    if (this.#cell.length > 0) this.endCell(style)
    if (this.#cells.length > 0) this.endRow([])
    this.#endTable()
    return joinBlocks(this.#blocks)
  }

  #addToCell(text: string, tableDepth: number): void {
    if (tableDepth > 1) {
      this.#innerCell.push(text)
      return
    }
    this.#endInnerTable()
    this.#cell.push(text)
  }

  #addParagraph(text: string, label: string, listLevel: number | null): void {
    // Some writers put bullets and numbers into the text itself.
    const written = /^(?:[•·▪◦‣]\s+|[–-]\t\s*|((?:\d{1,3}[.)]|[a-z]\))\t\s*))/u.exec(text)
    if (listLevel === null && label === '' && written === null) {
      this.#addBlock(text, false)
      return
    }
    const mark = label === '' ? (written?.[1]?.trim() ?? '') : label
    const bullet = NUMBER.test(mark) ? mark : '-'
    const rest = written === null ? text : text.slice(written[0].length)
    this.#addBlock(`${'  '.repeat(Math.min(8, listLevel ?? 0))}${bullet} ${rest}`, true)
  }

  #addBlock(text: string, isItem: boolean): void {
    this.#endTable()
    this.#blocks.push({ text, isItem })
  }

  #endTable(): void {
    const rows = alignRows(this.#rows.filter(({ cells }) => cells.some((cell) => cell !== '')))
    this.#rows = []
    if (rows.length > 0) this.#blocks.push({ text: markdownTable(rows), isItem: false })
  }

  #takeText(): string {
    const text = this.#text.toString().replaceAll('\u00ad', '').trim()
    this.#text = new ScriptedText()
    return text
  }

  #endInnerTable(): void {
    if (this.#innerCell.length > 0) this.#innerCells.push(this.#innerCell.join(' '))
    this.#innerCell = []
    this.endInnerRow()
    if (this.#innerRows.length > 0)
      this.#cell.push(this.#innerRows.map((row) => row.join(', ')).join('; '))
    this.#innerRows = []
  }
}

const LABEL_MAX = 100
/** The label of a numbered item; other labels are bullets. */
const NUMBER = /^[([]?[\p{L}\p{N}]{1,8}(?:\.[\p{L}\p{N}]{1,4})*[.)\]:]{0,2}$/u

/** Word's limit. */
const COLUMNS_MAX = 63
/** Limit of the empty cells that fill merged cells. */
const FILLED_MAX = 1_000_000
/** Edges of one column differ by less, in twips: 1.3 mm. */
const EDGE_TOLERANCE = 75

/** Puts each spanning cell into its first column, by the edges of all rows. */
function alignRows(rows: readonly Row[]): string[][] {
  const isEven = rows.every(({ cells }) => cells.length === rows[0]?.cells.length)
  const isDefined = rows.every(({ cells, edges }) => edges.length === cells.length)
  if (isEven || !isDefined) return rows.map(({ cells }) => cells)
  const columns: number[] = []
  for (const edge of new Set(rows.flatMap(({ edges }) => edges).sort((a, b) => a - b)))
    if (edge - (columns.at(-1) ?? Number.NEGATIVE_INFINITY) >= EDGE_TOLERANCE) columns.push(edge)
  if (columns.length > COLUMNS_MAX || columns.length * rows.length > FILLED_MAX)
    return rows.map(({ cells }) => cells)
  return rows.map(({ cells, edges }) => {
    const row: string[] = []
    for (const [i, cell] of cells.entries()) {
      row.push(cell)
      const column = columns.findLastIndex((edge) => edge <= (edges[i] ?? 0))
      while (row.length <= column) row.push('')
    }
    return row
  })
}
