/**
 * Which characters of a page are a passage's. A passage is the page's text as a parser joined it: other white space, hyphens gone, heads left out;
 * so stretches are compared without all that, and what both have is lit.
 */
export function findHighlights(page: string, passage: string): Uint8Array {
  const highlights = new Uint8Array(page.length)
  const passageText = normalizeText(passage).text
  const { text, places } = normalizeText(page)
  const length = Math.min(STRETCH, passageText.length, text.length)
  if (length === 0) return highlights
  const whole = text.indexOf(passageText)
  if (whole >= 0) {
    for (const place of places.slice(whole, whole + passageText.length)) highlights[place] = 1
    return highlights
  }

  const stretches = new Set<string>()
  for (let i = 0; i + length <= passageText.length; i++)
    stretches.add(passageText.slice(i, i + length))
  let litTo = 0
  for (let i = 0; i + length <= text.length; i++) {
    if (!stretches.has(text.slice(i, i + length))) continue
    for (let at = Math.max(i, litTo); at < i + length; at++) highlights[places[at] as number] = 1
    litTo = i + length
  }
  return highlights
}

/** Characters that two texts hardly have in common by chance. */
const STRETCH = 20

/** Letters, digits and signs alone, and where each was. */
function normalizeText(text: string): { text: string; places: number[] } {
  let plain = ''
  const places: number[] = []
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string
    if (/[\s\p{Pd}\u00ad|#*\p{Cc}]/u.test(c)) continue
    for (const part of c.normalize('NFKC').toLowerCase()) {
      plain += part
      for (let unit = 0; unit < part.length; unit++) places.push(i)
    }
  }
  return { text: plain, places }
}

/** Where in a text a quote of the passage at `from` is; null where it is not. */
export function findQuote(
  text: string,
  quote: string,
  from: number,
): { from: number; to: number } | null {
  const after = text.indexOf(quote, from)
  const found = after >= 0 ? after : text.indexOf(quote)
  return found < 0 ? null : { from: found, to: found + quote.length }
}

/** Where in a text the passage is that is said to start at `start`; null where it is not. */
export function findPassage(
  text: string,
  content: string,
  start: number,
): { from: number; to: number } | null {
  // Long white space is told shorter than it was: then it stands before its place.
  const from = text.lastIndexOf(content, start)
  const found = from >= 0 ? from : text.indexOf(content)
  return found < 0 ? null : { from: found, to: found + content.length }
}
