/** Turns the pieces of text that a PDF page draws into paragraphs: lines by their baseline, words joined across line ends. */

export interface Piece {
  text: string
  /** Along and across the direction of writing, in points; across grows downwards. */
  x: number
  y: number
  width: number
  height: number
}

interface Line {
  text: string
  x: number
  end: number
  y: number
  height: number
}

/** One page's text. Pieces come in the order in which the page draws them, which for all but odd producers is the reading order. */
export function joinPieces(pieces: Piece[]): string {
  return joinLines(linesOf(pieces))
}

function linesOf(pieces: Piece[]): Line[] {
  const lines: Line[] = []
  for (const { text, x, y, width, height } of pieces) {
    const line = lines.at(-1)
    const size = Math.max(height, line?.height ?? 0) || 1
    const isSame =
      line !== undefined && Math.abs(y - line.y) < size * 0.5 && x > line.x - size && x - line.end < size * 40
    if (!isSame) {
      if (text.trim() !== '') lines.push({ text, x, end: x + width, y, height })
      continue
    }
    const gap = x - line.end
    const needsSpace = gap > size * 0.15 && !/\s$/.test(line.text) && !/^\s/.test(text)
    // Wide gaps are columns of a table or form: kept apart, so that the chunker sees a row.
    line.text += needsSpace ? `${gap > size * 2 ? '\t' : ' '}${text}` : text
    line.end = Math.max(line.end, x + width)
    line.height = Math.max(line.height, height)
  }
  return lines.map((line) => ({ ...line, text: line.text.trim() })).filter(({ text }) => text !== '')
}

function joinLines(lines: Line[]): string {
  let text = ''
  for (const [i, line] of lines.entries()) {
    const before = lines[i - 1]
    text = before === undefined ? line.text : join(text, line, before)
  }
  return text
}

function join(text: string, line: Line, before: Line): string {
  const size = Math.max(1, Math.min(line.height, before.height))
  const step = line.y - before.y
  const widest = Math.max(before.end - before.x, line.end - line.x)
  const isNewColumn = step < -size
  const isGap = step > Math.max(line.height, before.height) * 1.75
  const otherSize = Math.abs(line.height - before.height) > size * 0.2
  const isShort = before.end - before.x < widest * 0.75
  const isIndented = line.x - before.x > size * 0.8 && line.x - before.x < size * 4 && !isNewColumn

  if (!isGap && !otherSize && /\p{Ll}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line.text)) {
    return text.replace(/[-\u00ad\u2010]$/u, '') + line.text
  }
  const endsSentence = /[.!?:。！？]["'”’)\]]*$/.test(before.text)
  if (isGap || otherSize || (isIndented && endsSentence)) return `${text}\n\n${line.text}`
  if (isNewColumn) return endsSentence ? `${text}\n\n${line.text}` : `${text}${glue(text, line.text)}${line.text}`
  if (isShort || isIndented || before.text.includes('\t') || line.text.includes('\t')) return `${text}\n${line.text}`
  return `${text}${glue(text, line.text)}${line.text}`
}

const unspaced = /[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]/

/** Scripts that write no spaces get none at a line's end. */
function glue(left: string, right: string): string {
  return unspaced.test(left.at(-1) ?? '') && unspaced.test(right[0] ?? '') ? '' : ' '
}

/**
 * Takes off the lines that most pages repeat at their top or bottom, page numbers aside ("3 | Annual report").
 * Pages are their texts, line by line.
 */
export function dropRunningLines(pages: string[]): string[] {
  if (pages.length < 4) return pages
  const seen = new Map<string, number>()
  for (const page of pages) for (const line of new Set(edgesOf(page))) seen.set(line, (seen.get(line) ?? 0) + 1)
  const repeats = (line: string | undefined) => line !== undefined && (seen.get(mask(line)) ?? 0) > pages.length / 2

  return pages.map((page) => {
    const lines = page.split('\n')
    while (lines.length > 0 && (repeats(lines[0]) || lines[0] === '')) lines.shift()
    while (lines.length > 0 && (repeats(lines.at(-1)) || lines.at(-1) === '')) lines.pop()
    return lines.join('\n')
  })
}

function edgesOf(page: string): string[] {
  const lines = page.split('\n').filter((line) => line !== '')
  return [...lines.slice(0, 2), ...lines.slice(-2)].map(mask)
}

function mask(line: string): string {
  return line.replace(/\d+/g, '#')
}
