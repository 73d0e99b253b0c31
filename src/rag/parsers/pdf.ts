/**
 * PDF text by pdf.js. Runs in a worker that may be killed: a PDF is a program, and some never end.
 * CMaps and standard fonts come from the package: without them Japanese files give no characters at all.
 */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { dropRunningLines, joinPieces, type Piece } from './pdf-lines.ts'
import { Unreadable } from './unreadable.ts'

const PAGES_MAX = 5_000
const TEXT_MAX = 64 * 1024 * 1024

const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))

export async function parsePdf(bytes: Uint8Array): Promise<string> {
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
    const pages: string[] = []
    let broken = 0
    let length = 0
    for (let number = 1; number <= document.numPages; number++) {
      try {
        const page = await document.getPage(number)
        const { items } = await page.getTextContent()
        pages.push(joinPieces(piecesOf(items)))
        page.cleanup()
      } catch {
        broken++
      }
      length += pages.at(-1)?.length ?? 0
      if (length > TEXT_MAX) throw new Unreadable('The PDF holds more than 64 MB of text. Split it and send the parts.')
    }
    return checked(
      dropRunningLines(pages)
        .filter((page) => page !== '')
        .join('\n\n'),
      broken,
      document.numPages,
    )
  } catch (error) {
    throw explained(error)
  } finally {
    await loading.destroy().catch(() => undefined)
  }
}

interface Item {
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

/** No text, and text of signs that stand for nothing, are told apart from a good reading. */
function checked(text: string, broken: number, pages: number): string {
  if (broken === pages && pages > 0) throw new Unreadable('The PDF is damaged: none of its pages can be read.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a font without a table gives
  const clean = text.replace(/[\x00-\x08\x0b\x0e-\x1f\x7f]/g, '')
  const ink = clean.replace(/\s+/g, '')
  if (ink === '')
    throw new Unreadable(
      'The PDF has no text. If its pages are pictures (a scan), run it through text recognition (OCR) first.',
    )

  const lost = (ink.match(/[\ufffd\ue000-\uf8ff]/g)?.length ?? 0) + (text.length - clean.length)
  if (lost > ink.length * 0.3) {
    throw new Unreadable(
      'The text of this PDF cannot be read: its fonts do not say which letters they draw. Run it through text recognition (OCR) first.',
    )
  }
  // Operators of the page's own program, drawn as text: a stream that lost its beginning.
  if ((clean.match(/\bT[jJdDm]\b/g)?.length ?? 0) > clean.length / 100) {
    throw new Unreadable('The PDF is damaged: what is left of its text makes no sense.')
  }
  return clean
}

function explained(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if ((error as Error)?.name === 'PasswordException') {
    return new Unreadable('The PDF is encrypted and needs a password. Save it without one and send it again.')
  }
  return new Unreadable('The PDF is damaged and cannot be opened.', { cause: error })
}
