/** An XML tokenizer with callbacks: no prefixes, no DTD, only the five and numeric entities. */
export type Walker = {
  open(name: string, attributes: () => Map<string, string>): void
  close?(name: string): void
  text?(text: string): void
}

// Unterminated markup extends to the end, and no tag extends over the next "<" (which XML forbids
// inside quotes too), so each character is tried once or twice.
const markup =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|<!DOCTYPE[^[>]*(?:\[[\s\S]*?(?:\]|$))?[^>]*(?:>|$)|<(\/?)([^\s"'<>/=!?]+)((?:"[^"<]*"|'[^'<]*'|[^"'<>])*)>/g

export function walkXml(xml: string, walker: Walker): void {
  let last = 0
  for (const match of xml.matchAll(markup)) {
    if (match.index > last) walker.text?.(decode(xml.slice(last, match.index)))
    last = match.index + match[0].length

    const [, data, slash, qualified, rest = ''] = match
    if (data !== undefined) walker.text?.(data)
    if (qualified === undefined) continue
    const name = qualified.slice(qualified.indexOf(':') + 1)
    if (slash) {
      walker.close?.(name)
      continue
    }
    walker.open(name, () => readAttributes(rest))
    if (rest.endsWith('/')) walker.close?.(name)
  }
  if (last < xml.length) walker.text?.(decode(xml.slice(last)))
}

/** Returns the attributes of each element of that name. */
export function listElements(xml: string, wanted: string): Map<string, string>[] {
  const found: Map<string, string>[] = []
  walkXml(xml, {
    open(name, attributes) {
      if (name === wanted) found.push(attributes())
    },
  })
  return found
}

function readAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single, bare] of text.matchAll(
    /(?<![^\s"'=/])([^\s"'=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=/]+))/g,
  )) {
    attributes.set(name.slice(name.indexOf(':') + 1), decode(double ?? single ?? bare ?? ''))
  }
  return attributes
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,32}));/gi,
    (_, hex, decimal, name) => {
      if (name !== undefined) return named[name] ?? ''
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff && code > 0 && !(code >= 0xd800 && code <= 0xdfff)
        ? String.fromCodePoint(code)
        : ''
    },
  )
}
