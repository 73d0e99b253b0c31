/** EPUB books: the chapters in the order of the spine, each read as a web page. */
import { htmlToMarkdown } from './html.ts'
import { decodeXml, PART_MAX, resolvePath } from './office.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'
import { listElements } from './xml.ts'
import { openZip } from './zip.ts'

const TEXT_MAX = 64 * 1024 * 1024

export function parseEpub(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const container = zip.read('META-INF/container.xml', PART_MAX)
  if (container === undefined) throw new Unreadable('The file is not an EPUB: it names no book.')
  if (zip.names.includes('meta-inf/rights.xml'))
    throw new Unreadable('The book is protected by its seller (DRM) and cannot be read.')
  const book = listElements(decodeXml(container), 'rootfile')[0]?.get('full-path') ?? ''
  const listed = zip.read(book, PART_MAX)
  if (listed === undefined) throw new Unreadable('The file is not an EPUB: its book is missing.')

  const warnings: Warning[] = []
  const texts: string[] = []
  let length = 0
  let hasPictures = false
  for (const path of readSpine(decodeXml(listed), book.slice(0, book.lastIndexOf('/') + 1))) {
    const chapter = zip.read(path, PART_MAX)
    if (chapter === undefined) {
      warnings.push({ page: null, reason: `A chapter is missing: ${path.slice(0, 200)}` })
      continue
    }
    const { text, hasPictures: has } = htmlToMarkdown(decodeXml(chapter), { isXhtml: true })
    hasPictures ||= has
    length += text.length
    if (length > TEXT_MAX)
      throw new Unreadable('The book holds more than 64 MB of text. Split it and send the parts.')
    if (text !== '') texts.push(text)
  }
  if (hasPictures) warnings.push(PICTURES)
  return { text: texts.join('\n\n'), warnings }
}

function readSpine(xml: string, folder: string): string[] {
  const paths = new Map(
    listElements(xml, 'item').map((item) => [
      item.get('id'),
      resolvePath(folder, unescapePath(item.get('href') ?? '')),
    ]),
  )
  return listElements(xml, 'itemref').flatMap((item) => paths.get(item.get('idref')) ?? [])
}

function unescapePath(href: string): string {
  try {
    return decodeURIComponent(href)
  } catch {
    return href
  }
}
