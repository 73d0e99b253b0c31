/** EPUB books: the chapters in the order of the spine, each read as a web page. */
import { htmlToMarkdown } from './html.ts'
import { decodeXml, PART_MAX, resolvePath } from './office.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'
import { walkXml } from './xml.ts'
import { openZip } from './zip.ts'

const TEXT_MAX = 64 * 1024 * 1024

export function parseEpub(bytes: Uint8Array): Reading {
  const zip = openZip(bytes)
  const container = zip.read('META-INF/container.xml', PART_MAX)
  if (container === undefined) throw new Unreadable('The file is not an EPUB: it names no book.')
  if (zip.names.includes('meta-inf/rights.xml'))
    throw new Unreadable('The book is protected by its seller (DRM) and cannot be read.')
  const book = readBook(decodeXml(container))
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

function readBook(xml: string): string {
  let path = ''
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'rootfile' && path === '') path = attributes().get('full-path') ?? ''
    },
    close() {},
    text() {},
  })
  return path
}

function readSpine(xml: string, folder: string): string[] {
  const paths = new Map<string, string>()
  const spine: string[] = []
  walkXml(xml, {
    open(name, attributes) {
      const fields = name === 'item' || name === 'itemref' ? attributes() : undefined
      if (name === 'item')
        paths.set(
          fields?.get('id') ?? '',
          resolvePath(folder, unescapePath(fields?.get('href') ?? '')),
        )
      else if (name === 'itemref') spine.push(fields?.get('idref') ?? '')
    },
    close() {},
    text() {},
  })
  return spine.flatMap((id) => paths.get(id) ?? [])
}

function unescapePath(href: string): string {
  try {
    return decodeURIComponent(href)
  } catch {
    return href
  }
}
