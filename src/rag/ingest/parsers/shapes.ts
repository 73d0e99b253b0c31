/** Reads shapes (DrawingML): paragraphs, lists, tables and formulas of slides and drawings. */
import { FormulaReader, type Script, ScriptedText } from './formulas.ts'
import { markdownTable } from './table.ts'
import { walkXml } from './xml.ts'

/** Charts and diagrams among the shapes. */
export type Graphics = { readText(relationId: string): string }

/** `kind`: the type of a slide's placeholder, else `text`. */
export type Shape = { kind: string; parts: { text: string; isItem: boolean }[] }

/** Returns the shapes that have text, in the order of the file. */
export function readShapes(xml: string, graphics: Graphics): Shape[] {
  const reader = new ShapeReader(graphics)
  walkXml(xml, {
    open: (name, attributes) => reader.open(name, attributes),
    close: (name) => reader.close(name),
    text: (text) => reader.addText(text),
  })
  return reader.shapes.filter(({ parts }) => parts.some(({ text }) => text !== ''))
}

class ShapeReader {
  readonly shapes: Shape[] = []
  #graphics: Graphics
  #table: string[][] | null = null
  #cell: string[] | null = null
  #paragraph: { text: ScriptedText; level: number } | null = null
  #script: Script = ''
  #formula: FormulaReader | null = null
  #fallbacks = 0
  #inText = false

  constructor(graphics: Graphics) {
    this.#graphics = graphics
  }

  open(name: string, attributes: () => Map<string, string>): void {
    // A fallback repeats its sibling's content for programs that cannot show the sibling.
    if (name === 'Fallback') this.#fallbacks++
    if (this.#fallbacks > 0) return
    if (name === 't') this.#inText = true
    else if (name === 'oMath') this.#formula ??= new FormulaReader()
    else if (this.#formula === null) this.#openElement(name, attributes)
    else this.#formula.open(name, (attribute) => attributes().get(attribute))
  }

  #openElement(name: string, attributes: () => Map<string, string>): void {
    const shape = this.shapes.at(-1)
    if (name === 'sp' || name === 'graphicFrame' || name === 'pt')
      this.shapes.push({ kind: 'text', parts: [] })
    else if (name === 'chart') this.#addGraphic(attributes().get('id'))
    else if (name === 'relIds') this.#addGraphic(attributes().get('dm'))
    else if (name === 'ph' && shape) shape.kind = attributes().get('type') ?? 'body'
    else if (name === 'tbl') this.#table = []
    else if (name === 'tr') this.#table?.push([])
    else if (name === 'tc') this.#cell = []
    else this.#openInParagraph(name, attributes)
  }

  #openInParagraph(name: string, attributes: () => Map<string, string>): void {
    const paragraph = this.#paragraph
    if (name === 'p') this.#paragraph = { text: new ScriptedText(), level: 0 }
    else if (name === 'pPr' && paragraph)
      paragraph.level = Math.min(8, Number(attributes().get('lvl') ?? 0) || 0)
    else if (name === 'br') paragraph?.text.add('\n')
    else if (name === 'r') this.#script = ''
    else if (name === 'rPr') {
      const raised = Number.parseInt(attributes().get('baseline') ?? '0', 10)
      this.#script = raised > 0 ? '^' : raised < 0 ? '_' : ''
    }
  }

  close(name: string): void {
    if (name === 'Fallback') this.#fallbacks = Math.max(0, this.#fallbacks - 1)
    if (this.#fallbacks > 0) return
    if (name === 'oMath' || name === 'p') {
      this.#paragraph?.text.add(this.#formula?.end() ?? '')
      this.#formula = null
    }
    if (name === 't') this.#inText = false
    else if (this.#formula !== null) this.#formula.close(name)
    else if (name === 'r') this.#script = ''
    else if (name === 'p') this.#closeParagraph()
    else if (name === 'tc') {
      this.#table?.at(-1)?.push((this.#cell ?? []).join(' '))
      this.#cell = null
    } else if (name === 'tbl') {
      this.#addPart(markdownTable(this.#table ?? []), false)
      this.#table = null
    }
  }

  addText(text: string): void {
    if (!this.#inText || this.#fallbacks > 0) return
    if (this.#formula !== null) this.#formula.text(text)
    else this.#paragraph?.text.add(text, this.#script)
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraph
    this.#paragraph = null
    const text = paragraph?.text.toString().trim() ?? ''
    if (paragraph === null || text === '') return
    if (this.#cell) this.#cell.push(text)
    else if (this.shapes.at(-1)?.kind === 'body')
      this.#addPart(`${'  '.repeat(paragraph.level)}- ${text.replace(/\s+/g, ' ')}`, true)
    else this.#addPart(text, false)
  }

  #addGraphic(relationId: string | undefined): void {
    if (this.shapes.length > 0) this.#addPart(this.#graphics.readText(relationId ?? ''), false)
  }

  #addPart(text: string, isItem: boolean): void {
    this.shapes.at(-1)?.parts.push({ text, isItem })
  }
}

export function shapesText(xml: string, graphics: Graphics): string {
  return readShapes(xml, graphics).map(writeShape).join('\n\n')
}

export function writeShape({ parts }: Shape): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n')
}
