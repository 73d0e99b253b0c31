// PDF text through pdf.js, page by page; unreadable pages are left out with a warning. In a worker
// that may be killed: a PDF is a program, and some never end. Without the package's CMaps and
// fonts, Japanese files give no characters.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Bookmark, findBody, findDoubtfulFonts, writeText } from './pdf-blocks.ts'
import { type Annotation, insertFields } from './pdf-fields.ts'
import { buildLines, dropRunningLines, type Page, type Piece } from './pdf-lines.ts'
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
    // Pictures are not decoded. Fonts report their names, because a bold font marks headings.
    maxImageSize: 1,
    fontExtraProperties: true,
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
        const annotations = (await page.getAnnotations().catch(() => {
          warn(FIELDS_LOST)
          return []
        })) as Annotation[]
        const pieces = insertFields(readPieces(items), annotations, page.rotate)
        const reason = findTextFault(pieces)
        if (reason !== undefined) warn(reason)
        if (reason === undefined || reason === UNCLEAR) {
          const [, low = 0, , high = 0] = page.view
          pages.push({
            number,
            top: -high,
            bottom: -low,
            lines: buildLines(pieces.map(cleanPiece)),
          })
        }
        page.cleanup()
      } catch {
        warn(DAMAGED)
      }
      length += pages.at(-1)?.number === number ? countLetters(pages.at(-1)) : 0
      if (length > TEXT_MAX)
        throw new Unreadable('The PDF holds more than 64 MB of text. Split it and send the parts.')
    }
    const attached: Map<string, unknown> | null = await document.getAttachments().catch(() => null)
    if (attached !== null && attached.size > 0)
      warnings.push({ page: null, reason: 'The files attached to the PDF are left out.' })

    const remaining = dropRunningLines(pages)
    if (remaining.some((lines, i) => lines.length < (pages[i]?.lines.length ?? 0)))
      warnings.push({ page: null, reason: 'Repeated page headers and footers are left out.' })
    const read = remaining.map((lines, i) => ({ page: pages[i]?.number ?? 0, lines }))
    const body = findBody(read)
    const { text, outline } = writeText(
      read,
      body,
      await findBoldFonts(document, findDoubtfulFonts(read, body)),
      await readBookmarks(document),
    )
    if (text === '') throw new Unreadable(findReason(warnings))
    // Operators of the page's program as text: the stream lost its beginning.
    if ((text.match(/\bT[jJdDm]\b/g)?.length ?? 0) > text.length / 100) {
      throw new Unreadable('The PDF is damaged: what is left of its text makes no sense.')
    }
    return { text, outline, warnings }
  } catch (error) {
    throw toUnreadable(error)
  } finally {
    await loading.destroy().catch(() => undefined)
  }
}

type Document = {
  getPage(number: number): Promise<{
    getOperatorList(): Promise<unknown>
    commonObjs: { has(id: string): boolean; get(id: string): unknown }
    cleanup(): unknown
  }>
  getOutline(): Promise<OutlineItem[] | null>
  getDestination(name: string): Promise<unknown[] | null>
  getPageIndex(ref: never): Promise<number>
}

/** Pages that are drawn to learn the names of their fonts. */
const DRAWN_MAX = 6
const BOLD = /bold|black|heavy|demi|medi(?!ae)|blk|[-,]bd/i

async function findBoldFonts(document: Document, fonts: Map<string, number>): Promise<Set<string>> {
  const bold = new Set<string>()
  for (const number of new Set([...fonts.values()].slice(0, DRAWN_MAX))) {
    try {
      const page = await document.getPage(number)
      await page.getOperatorList()
      for (const id of fonts.keys()) {
        const font = page.commonObjs.has(id)
          ? (page.commonObjs.get(id) as { name?: string } | null)
          : null
        if (BOLD.test(font?.name ?? '')) bold.add(id)
      }
      page.cleanup()
    } catch {
      // The text was read already; only the weight of its letters stays unknown.
    }
  }
  return bold
}

type OutlineItem = { title: string; dest: string | unknown[] | null; items: OutlineItem[] }

const BOOKMARKS_MAX = 2_000

/** Returns bookmarks in their order; late entries of a long list are left out. */
async function readBookmarks(document: Document): Promise<Bookmark[]> {
  const bookmarks: Bookmark[] = []
  let looked = 0
  const walk = async (items: OutlineItem[], level: number): Promise<void> => {
    for (const { title, dest, items: below } of items) {
      if (++looked > BOOKMARKS_MAX || level > LEVELS_MAX) return
      const page = await findPage(document, dest).catch(() => null)
      if (page !== null) bookmarks.push({ title, level, page })
      await walk(below, level + 1)
    }
  }
  await walk((await document.getOutline().catch(() => null)) ?? [], 1)
  return bookmarks
}

/** Deeper levels are no headings of a text. */
const LEVELS_MAX = 10

async function findPage(document: Document, dest: OutlineItem['dest']): Promise<number | null> {
  const [target] = (typeof dest === 'string' ? await document.getDestination(dest) : dest) ?? []
  if (typeof target === 'number') return target + 1
  return target && typeof target === 'object'
    ? (await document.getPageIndex(target as never)) + 1
    : null
}

type Item = { str: string; transform: number[]; width: number; height: number; fontName: string }

/** Rotated text is read along its direction. */
function readPieces(items: unknown[]): Piece[] {
  return items
    .filter((item): item is Item => typeof (item as Item).str === 'string')
    .map(({ str, transform: [a = 1, b = 0, , , e = 0, f = 0], width, height, fontName }) => {
      const size = Math.hypot(a, b) || 1
      const [cos, sin] = [a / size, b / size]
      return {
        text: unligate(str),
        x: e * cos + f * sin,
        y: e * sin - f * cos,
        width,
        height: height || size,
        font: fontName,
      }
    })
}

function unligate(text: string): string {
  return text.replace(/[\ufb00-\ufb06]/g, (c) => c.normalize('NFKC'))
}

const FIELDS_LOST =
  'What is filled into the form fields of the page cannot be read and is left out.'
const DAMAGED = 'The page is damaged and cannot be read.'
const EMPTY =
  'The page has no text. If it is a picture (a scan), run the file through text recognition (OCR) first.'
const UNKNOWN =
  'The text of the page cannot be read: its fonts do not say which letters they draw. Run the file through text recognition (OCR) first.'
const UNCLEAR = 'Some letters of the page are left out: a font does not say which letters it draws.'

/** Fewer characters are too few to judge a page. */
const LOST_MIN = 10

/** Returns the reason why a page's text is unusable or incomplete; undefined when it is good. */
function findTextFault(pieces: Piece[]): string | undefined {
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

function cleanPiece(piece: Piece): Piece {
  return { ...piece, text: piece.text.replace(CONTROLS, '') }
}

function countLetters(page: Page | undefined): number {
  return page?.lines.reduce((sum, { text }) => sum + text.length + 1, 0) ?? 0
}

/** When no page is left: returns the reason that a user can act on best. */
function findReason(warnings: Warning[]): string {
  const has = (reason: string) => warnings.some((warning) => warning.reason === reason)
  if (has(UNKNOWN)) {
    return 'The text of this PDF cannot be read: its fonts do not say which letters they draw. Run it through text recognition (OCR) first.'
  }
  return has(DAMAGED) && !has(EMPTY)
    ? 'The PDF is damaged: none of its pages can be read.'
    : 'The PDF has no text. If its pages are pictures (a scan), run it through text recognition (OCR) first.'
}

function toUnreadable(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if ((error as Error)?.name === 'PasswordException') {
    return new Unreadable(
      'The PDF is encrypted and needs a password. Save it without one and send it again.',
    )
  }
  return new Unreadable('The PDF is damaged and cannot be opened.', { cause: error })
}
