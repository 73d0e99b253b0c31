/**
 * Returns 1 for each character of a page that belongs to a passage. The parser changed white
 * space, hyphens and headings, so the comparison ignores them and marks common stretches.
 * `context`: of several equal passages, the one in it is marked.
 */
export function findHighlights(page: string, passage: string, context = ''): Uint8Array {
  const highlights = new Uint8Array(page.length)
  const passageText = normalizeText(passage).text
  const { text, places } = normalizeText(page)
  const length = Math.min(STRETCH, passageText.length, text.length)
  if (length === 0) return highlights
  const around = text.indexOf(normalizeText(context).text.slice(0, CONTEXT))
  const after = text.indexOf(passageText, Math.max(0, around))
  const whole = after >= 0 ? after : text.indexOf(passageText)
  if (whole >= 0) {
    for (const place of places.slice(whole, whole + passageText.length)) highlights[place] = 1
    return highlights
  }

  const stretches = new Set<string>()
  for (let i = 0; i + length <= passageText.length; i++)
    stretches.add(passageText.slice(i, i + length))
  let highlightedTo = 0
  for (let i = 0; i + length <= text.length; i++) {
    if (!stretches.has(text.slice(i, i + length))) continue
    for (let at = Math.max(i, highlightedTo); at < i + length; at++)
      highlights[places[at] as number] = 1
    highlightedTo = i + length
  }
  return highlights
}

/** Shortest stretch that is unlikely to match by chance. */
const STRETCH = 20
/** The beginning of a context that finds it. */
const CONTEXT = 60

/** Returns the text without white space and hyphens, and the original index of each character. */
function normalizeText(text: string): { text: string; places: number[] } {
  let plain = ''
  const places: number[] = []
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string
    if (/[\s\p{Pd}\u00ad|#*_`\\\p{Cc}]/u.test(c)) continue
    for (const part of c.normalize('NFKC').toLowerCase()) {
      plain += part
      for (let unit = 0; unit < part.length; unit++) places.push(i)
    }
  }
  return { text: plain, places }
}

/** Finds a quote at or after `from`, then anywhere; null if it is missing. */
export function findQuote(
  text: string,
  quote: string,
  from: number,
): { from: number; to: number } | null {
  const after = text.indexOf(quote, from)
  const found = after >= 0 ? after : text.indexOf(quote)
  return found < 0 ? null : { from: found, to: found + quote.length }
}

/** Finds the passage near its recorded `start`; null if it is missing. */
export function findPassage(
  text: string,
  content: string,
  start: number,
): { from: number; to: number } | null {
  // Collapsed white space moves a passage before its recorded start.
  const from = text.lastIndexOf(content, start)
  const found = from >= 0 ? from : text.indexOf(content)
  return found < 0 ? null : { from: found, to: found + content.length }
}
