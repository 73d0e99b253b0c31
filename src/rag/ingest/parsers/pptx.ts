/** Presentations: a page per slide with title, tables and lists; the speaker's notes at the end. */
import type { Outline } from '../outline.ts'
import { openGraphics } from './graphics.ts'
import { decodeXml, findMainPart, PART_MAX, readRelations } from './office.ts'
import { type Graphics, readShapes, type Shape, writeShape } from './shapes.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'
import { listElements } from './xml.ts'
import { openZip } from './zip.ts'

export function parsePptx(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const main = findMainPart(zip, 'ppt/presentation.xml')
  const presentation = zip.read(main, PART_MAX)
  if (presentation === undefined) throw new Unreadable('The file is not a PowerPoint presentation.')

  const relations = readRelations(zip, main)
  const pages: NonNullable<Outline['pages']> = []
  const warnings: Warning[] = []
  let text = ''
  for (const [i, listed] of listElements(decodeXml(presentation), 'sldId').entries()) {
    // Its own `id` is a number and the relation's has a prefix; the later of the two counts.
    const id = listed.get('id')
    const target = relations.find((relation) => relation.id === id)?.target ?? ''
    const slide = zip.read(target, PART_MAX)
    if (slide === undefined) continue
    const beside = readRelations(zip, target)
    const notesPart = beside.find(({ type }) => type === 'notesSlide')?.target
    const notes = notesPart === undefined ? undefined : zip.read(notesPart, PART_MAX)
    const leftOut = new Set<string>()
    const graphics = openGraphics(zip, target, { hasNumbers: true, leftOut })
    const parts = [
      slideText(decodeXml(slide), graphics),
      notes === undefined ? '' : notesText(decodeXml(notes), graphics),
    ]
    const written = parts.filter((part) => part !== '').join('\n\n')
    if (written !== '') {
      if (text !== '') text += '\n\n'
      pages.push({ at: text.length, page: i + 1 })
      text += written
    }
    const has = (type: string) => beside.some((relation) => relation.type === type)
    if (has('image')) warnings.push({ page: i + 1, reason: PICTURES.reason })
    for (const reason of leftOut) warnings.push({ page: i + 1, reason })
    if (has('comments')) warnings.push({ page: i + 1, reason: 'Comments are left out.' })
  }
  return { text, outline: { pages }, warnings }
}

/** Placeholders that the slide's layout fills in. */
const FILLED_IN = new Set(['sldNum', 'dt', 'ftr', 'hdr'])
function shownShapes(xml: string, graphics: Graphics): Shape[] {
  return readShapes(xml, graphics).filter(({ kind }) => !FILLED_IN.has(kind))
}

function slideText(xml: string, graphics: Graphics): string {
  return shownShapes(xml, graphics)
    .toSorted((a, b) => Number(isTitle(b)) - Number(isTitle(a)))
    .map((shape) => {
      const text = writeShape(shape)
      return isTitle(shape) ? `# ${text.replace(/\s+/g, ' ')}` : text
    })
    .join('\n\n')
}

const isTitle = ({ kind }: Shape) => kind === 'title' || kind === 'ctrTitle'

function notesText(xml: string, graphics: Graphics): string {
  const notes = shownShapes(xml, graphics)
    .filter(({ kind }) => kind === 'body')
    .flatMap(({ parts }) => parts.map(({ text }) => text.replace(/^\s*- /, '')))
    .join('\n')
  return notes === '' ? '' : `Notes: ${notes}`
}
