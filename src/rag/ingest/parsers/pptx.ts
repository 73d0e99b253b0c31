/** Presentations: each slide a page, its title a heading, its tables and lists as they stand, what the speaker notes after it. */
import type { Outline } from '../outline.ts'
import { decodeXml, PART_MAX, relationsOf } from './office.ts'
import { markdownTable } from './table.ts'
import { type Reading, Unreadable, type Warning } from './unreadable.ts'
import { walkXml } from './xml.ts'
import { openZip } from './zip.ts'

export function parsePptx(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const main = relationsOf(zip, '').find(({ type }) => type === 'officeDocument')?.target ?? 'ppt/presentation.xml'
  const presentation = zip.read(main, PART_MAX)
  if (presentation === undefined) throw new Unreadable('The file is not a PowerPoint presentation.')

  const relations = relationsOf(zip, main)
  const pages: NonNullable<Outline['pages']> = []
  const warnings: Warning[] = []
  let text = ''
  for (const [i, id] of slideIds(decodeXml(presentation)).entries()) {
    const target = relations.find((relation) => relation.id === id)?.target ?? ''
    const slide = zip.read(target, PART_MAX)
    if (slide === undefined) continue
    const beside = relationsOf(zip, target)
    const notesPart = beside.find(({ type }) => type === 'notesSlide')?.target
    const notes = notesPart === undefined ? undefined : zip.read(notesPart, PART_MAX)
    const parts = [slideText(decodeXml(slide)), notes === undefined ? '' : notesText(decodeXml(notes))]
    const written = parts.filter((part) => part !== '').join('\n\n')
    if (written !== '') {
      if (text !== '') text += '\n\n'
      pages.push({ at: text.length, page: i + 1 })
      text += written
    }
    const has = (type: string) => beside.some((relation) => relation.type === type)
    if (has('image')) warnings.push({ page: i + 1, reason: 'Pictures are left out: text in them is not read.' })
    if (has('chart')) warnings.push({ page: i + 1, reason: 'Charts are left out.' })
    if (has('diagramData')) warnings.push({ page: i + 1, reason: 'Diagrams (SmartArt) are left out.' })
    if (has('comments')) warnings.push({ page: i + 1, reason: 'Comments are left out.' })
  }
  return { text, outline: { pages }, warnings }
}

function slideIds(xml: string): string[] {
  const ids: string[] = []
  walkXml(xml, {
    // Its own `id` is a number, the relation's comes with a prefix: the later one of the two names counts.
    open(name, attributes) {
      if (name === 'sldId') ids.push(attributes().get('id') ?? '')
    },
    close() {},
    text() {},
  })
  return ids
}

/** What the slide's layout fills in by itself. */
const FILLED_IN = new Set(['sldNum', 'dt', 'ftr', 'hdr'])
type Shape = { kind: string; parts: { text: string; isItem: boolean }[] }

function shapesOf(xml: string): Shape[] {
  const shapes: Shape[] = []
  let table: string[][] | null = null
  let cell: string[] | null = null
  let paragraph: { text: string; level: number } | null = null
  let inText = false
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'sp' || name === 'graphicFrame') shapes.push({ kind: 'text', parts: [] })
      else if (name === 'ph') {
        const shape = shapes.at(-1)
        if (shape) shape.kind = attributes().get('type') ?? 'body'
      } else if (name === 'tbl') table = []
      else if (name === 'tr') table?.push([])
      else if (name === 'tc') cell = []
      else if (name === 'p') paragraph = { text: '', level: 0 }
      else if (name === 'pPr' && paragraph) paragraph.level = Math.min(8, Number(attributes().get('lvl') ?? 0) || 0)
      else if (name === 'br' && paragraph) paragraph.text += '\n'
      else if (name === 't') inText = true
    },
    close(name) {
      if (name === 't') inText = false
      else if (name === 'p' && paragraph) {
        const shape = shapes.at(-1)
        const written = paragraph.text.trim()
        if (written !== '' && cell) cell.push(written)
        else if (written !== '') {
          const isItem = shape?.kind === 'body'
          const text = isItem ? `${'  '.repeat(paragraph.level)}- ${written.replace(/\s+/g, ' ')}` : written
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
      if (inText && paragraph) paragraph.text += text
    },
  })
  return shapes.filter(({ kind, parts }) => !FILLED_IN.has(kind) && parts.some(({ text }) => text !== ''))
}

function slideText(xml: string): string {
  return shapesOf(xml)
    .toSorted((a, b) => Number(isTitle(b)) - Number(isTitle(a)))
    .map((shape) => {
      const text = shape.parts.map(({ text }) => text).join('\n')
      return isTitle(shape) ? `# ${text.replace(/\s+/g, ' ')}` : text
    })
    .join('\n\n')
}

const isTitle = ({ kind }: Shape) => kind === 'title' || kind === 'ctrTitle'

function notesText(xml: string): string {
  const notes = shapesOf(xml)
    .filter(({ kind }) => kind === 'body')
    .flatMap(({ parts }) => parts.map(({ text }) => text.replace(/^\s*- /, '')))
    .join('\n')
  return notes === '' ? '' : `Notes: ${notes}`
}
