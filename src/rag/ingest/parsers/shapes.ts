/** Shapes of slides, drawings and diagrams (DrawingML): their paragraphs, lists, tables and formulas. */
import { FormulaReader, type Script, ScriptedText } from './formulas.ts'
import { markdownTable } from './table.ts'
import { walkXml } from './xml.ts'

/** Charts and diagrams that stand among the shapes. */
export type Graphics = { textOf(relationId: string): string }

/** `kind`: of a slide's placeholder; `text` where it is none. */
export type Shape = { kind: string; parts: { text: string; isItem: boolean }[] }

/** Those that have text, in the order of the file. */
export function readShapes(xml: string, graphics: Graphics): Shape[] {
  const shapes: Shape[] = []
  let table: string[][] | null = null
  let cell: string[] | null = null
  let paragraph: { text: ScriptedText; level: number } | null = null
  let script: Script = ''
  let formula: FormulaReader | null = null
  let fallbacks = 0
  let inText = false
  walkXml(xml, {
    open(name, attributes) {
      // Programs that cannot show what stands beside it show this instead.
      if (name === 'Fallback') fallbacks++
      if (fallbacks > 0) return
      if (name === 't') inText = true
      else if (name === 'oMath') formula ??= new FormulaReader()
      else if (formula !== null) formula.open(name, (attribute) => attributes().get(attribute))
      else if (name === 'sp' || name === 'graphicFrame' || name === 'pt')
        shapes.push({ kind: 'text', parts: [] })
      else if (name === 'chart' || name === 'relIds')
        shapes.at(-1)?.parts.push({
          text: graphics.textOf(attributes().get(name === 'chart' ? 'id' : 'dm') ?? ''),
          isItem: false,
        })
      else if (name === 'ph') {
        const shape = shapes.at(-1)
        if (shape) shape.kind = attributes().get('type') ?? 'body'
      } else if (name === 'tbl') table = []
      else if (name === 'tr') table?.push([])
      else if (name === 'tc') cell = []
      else if (name === 'p') paragraph = { text: new ScriptedText(), level: 0 }
      else if (name === 'pPr' && paragraph)
        paragraph.level = Math.min(8, Number(attributes().get('lvl') ?? 0) || 0)
      else if (name === 'br') paragraph?.text.add('\n')
      else if (name === 'r') script = ''
      else if (name === 'rPr') {
        const raised = Number.parseInt(attributes().get('baseline') ?? '0', 10)
        script = raised > 0 ? '^' : raised < 0 ? '_' : ''
      }
    },
    close(name) {
      if (name === 'Fallback') fallbacks = Math.max(0, fallbacks - 1)
      if (fallbacks > 0) return
      if (name === 'oMath' || name === 'p') {
        paragraph?.text.add(formula?.end() ?? '')
        formula = null
      }
      if (name === 't') inText = false
      else if (formula !== null) formula.close(name)
      else if (name === 'r') script = ''
      else if (name === 'p' && paragraph) {
        const shape = shapes.at(-1)
        const written = paragraph.text.toString().trim()
        if (written !== '' && cell) cell.push(written)
        else if (written !== '') {
          const isItem = shape?.kind === 'body'
          const text = isItem
            ? `${'  '.repeat(paragraph.level)}- ${written.replace(/\s+/g, ' ')}`
            : written
          if (shape) shape.parts.push({ text, isItem })
        }
        paragraph = null
      } else if (name === 'tc') {
        table?.at(-1)?.push((cell ?? []).join(' '))
        cell = null
      } else if (name === 'tbl') {
        shapes.at(-1)?.parts.push({ text: markdownTable(table ?? []), isItem: false })
        table = null
      }
    },
    text(text) {
      if (!inText || fallbacks > 0) return
      if (formula !== null) formula.text(text)
      else paragraph?.text.add(text, script)
    },
  })
  return shapes.filter(({ parts }) => parts.some(({ text }) => text !== ''))
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
