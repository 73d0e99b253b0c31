/**
 * PDF text by pdf.js, page by page: a page that cannot be read is left out with a warning. Runs in a worker that may be killed: a PDF is a
 * program, and some never end. CMaps and standard fonts come from the package: without them Japanese files give no characters at all.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Outline } from '../outline.ts'
import { dropRunningLines, joinLines, linesOf, type Page, type Piece } from './pdf-lines.ts'
import { type Reading, Unreadable, type Warning } from './unreadable.ts'

const PAGES_MAX = 5_000
const TEXT_MAX = 64 * 1024 * 1024

const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))

export async function parsePdf(bytes: Uint8Array): Promise<Reading> {
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const loading = getDocument({
    data: bytes,
    cMapUrl: `${join(root, 'cmaps')}/`,
    cMapPacked: true,
    standardFontDataUrl: `${join(root, 'standard_fonts')}/`,
    wasmUrl: `${join(root, 'wasm')}/`,
    useSystemFonts: false,
    disableFontFace: true,
    enableXfa: false,
    verbosity: 0,
  })

  try {
    const document = await loading.promise
    if (document.numPages > PAGES_MAX) {
      throw new Unreadable(
        `The PDF has ${document.numPages} pages; at most ${PAGES_MAX} are read. Split it and send the parts.`,
      )
    }
    const pages: Page[] = []
    const warnings: Warning[] = []
    let length = 0
    for (let number = 1; number <= document.numPages; number++) {
      const warn = (reason: string) => warnings.push({ page: number, reason })
      try {
        const page = await document.getPage(number)
        const { items } = await page.getTextContent()
        const pieces = piecesOf(items)
        const reason = judged(pieces)
        if (reason !== undefined) warn(reason)
        if (reason === undefined || reason === UNCLEAR) {
          const [, low = 0, , high = 0] = page.view
          pages.push({ number, top: -high, bottom: -low, lines: linesOf(pieces.map(cleaned)) })
        }
        if (await hasFilledFields(page)) warn(FIELDS)
        page.cleanup()
      } catch {
        warn(DAMAGED)
      }
      length += pages.at(-1)?.number === number ? lengthOf(pages.at(-1)) : 0
      if (length > TEXT_MAX) throw new Unreadable('The PDF holds more than 64 MB of text. Split it and send the parts.')
    }
    const attached: Map<string, unknown> | null = await document.getAttachments().catch(() => null)
    if (attached !== null && attached.size > 0)
      warnings.push({ page: null, reason: 'The files attached to the PDF are left out.' })

    const kept = dropRunningLines(pages)
    if (kept.some((lines, i) => lines.length < (pages[i]?.lines.length ?? 0)))
      warnings.push({ page: null, reason: 'Repeated page headers and footers are left out.' })
    const { text, outline } = joinPages(
      kept.map((lines, i) => ({ page: pages[i]?.number ?? 0, text: joinLines(lines) })),
    )
    if (text === '') throw new Unreadable(reasonOf(warnings))
    // Operators of the page's own program, drawn as text: a stream that lost its beginning.
    if ((text.match(/\bT[jJdDm]\b/g)?.length ?? 0) > text.length / 100) {
      throw new Unreadable('The PDF is damaged: what is left of its text makes no sense.')
    }
    return { text, outline, warnings }
  } catch (error) {
    throw explained(error)
  } finally {
    await loading.destroy().catch(() => undefined)
  }
}

function joinPages(pages: { page: number; text: string }[]): { text: string; outline: Outline } {
  const starts: { at: number; page: number }[] = []
  const texts: string[] = []
  let at = 0
  for (const { page, text } of pages) {
    if (text === '') continue
    starts.push({ at, page })
    texts.push(text)
    at += text.length + PAGE_BREAK.length
  }
  return { text: texts.join(PAGE_BREAK), outline: { pages: starts, headings: [] } }
}

const PAGE_BREAK = '\n\n'

type Item = {
  str: string
  transform: number[]
  width: number
  height: number
}

/** Turned text is read along its own direction. */
function piecesOf(items: unknown[]): Piece[] {
  return items
    .filter((item): item is Item => typeof (item as Item).str === 'string')
    .map(({ str, transform: [a = 1, b = 0, , , e = 0, f = 0], width, height }) => {
      const size = Math.hypot(a, b) || 1
      const [cos, sin] = [a / size, b / size]
      return { text: unligate(str), x: e * cos + f * sin, y: e * sin - f * cos, width, height: height || size }
    })
}

function unligate(text: string): string {
  return text.replace(/[\ufb00-\ufb06]/g, (c) => c.normalize('NFKC'))
}

const DAMAGED = 'The page is damaged and cannot be read.'
const EMPTY = 'The page has no text. If it is a picture (a scan), run the file through text recognition (OCR) first.'
const UNKNOWN =
  'The text of the page cannot be read: its fonts do not say which letters they draw. Run the file through text recognition (OCR) first.'
const UNCLEAR = 'Some letters of the page are left out: a font does not say which letters it draws.'
const FIELDS = 'What is filled in into the form fields of the page is left out.'

/** Of so few signs none can be called the rule. */
const LOST_MIN = 10

/** Why a page's text is worth nothing, or not whole; undefined when it is good. */
function judged(pieces: Piece[]): string | undefined {
  const ink = pieces
    .map(({ text }) => text)
    .join('')
    .replace(/\s+/g, '')
  const controls = ink.match(CONTROLS)?.length ?? 0
  if (ink.length === controls) return controls === 0 ? EMPTY : UNKNOWN
  const lost = controls + (ink.match(/[\ufffd\ue000-\uf8ff]/g)?.length ?? 0)
  if (lost >= LOST_MIN && lost > (ink.length - controls) * 0.3) return UNKNOWN
  return controls > 0 ? UNCLEAR : undefined
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a font without a table gives
const CONTROLS = /[\x00-\x08\x0b\x0e-\x1f\x7f]/g

function cleaned(piece: Piece): Piece {
  return { ...piece, text: piece.text.replace(CONTROLS, '') }
}

function lengthOf(page: Page | undefined): number {
  return page?.lines.reduce((sum, { text }) => sum + text.length + 1, 0) ?? 0
}

type FormPage = {
  getAnnotations(): Promise<{ fieldType?: string; fieldValue?: unknown }[]>
}

/** What is typed or chosen; a button's state says nothing by itself. */
async function hasFilledFields(page: FormPage): Promise<boolean> {
  const annotations = await page.getAnnotations().catch(() => [])
  return annotations.some(({ fieldType, fieldValue }) => {
    const values = [fieldValue].flat().filter((value) => typeof value === 'string' && value.trim() !== '')
    return (fieldType === 'Tx' || fieldType === 'Ch') && values.length > 0
  })
}

/** Nothing is left: the reason that a person can do most about. */
function reasonOf(warnings: Warning[]): string {
  const has = (reason: string) => warnings.some((warning) => warning.reason === reason)
  if (has(UNKNOWN)) {
    return 'The text of this PDF cannot be read: its fonts do not say which letters they draw. Run it through text recognition (OCR) first.'
  }
  return has(DAMAGED) && !has(EMPTY)
    ? 'The PDF is damaged: none of its pages can be read.'
    : 'The PDF has no text. If its pages are pictures (a scan), run it through text recognition (OCR) first.'
}

function explained(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if ((error as Error)?.name === 'PasswordException') {
    return new Unreadable('The PDF is encrypted and needs a password. Save it without one and send it again.')
  }
  return new Unreadable('The PDF is damaged and cannot be opened.', { cause: error })
}
