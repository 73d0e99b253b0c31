/** Finds the places where a text may be cut, each with its strength, and its code and tables. */
import {
  Comma,
  classifyMark,
  FullComma,
  FullStop,
  isCaseless,
  isSpace,
  Stop,
  sentenceEnd,
} from '#embeddings/sentences.ts'

export const Clause = 1
export const Sentence = 2
export const Paragraph = 3
export const Heading = 4

export type Boundaries = {
  /** Ascending offsets; a cut there ends one chunk and starts the next. */
  at: Int32Array
  strength: Uint8Array
  /** Pairs of start and end offsets, ascending, not nested. */
  blocks: Int32Array
  /** Starts of lines that are Markdown headings. */
  headings: Int32Array
  /** Blocks that are tables with a header: start, end of the header, end. */
  tables: Int32Array
}

/** Linear in the text: every character is read at most twice. */
export function findBoundaries(text: string): Boundaries {
  const finder = new BoundaryFinder(text)
  for (let line = 0; line < text.length; ) {
    const end = findLineEnd(text, line)
    finder.readLine(line, end)
    line = end
  }
  return finder.end()
}

/** Reads a text line by line. */
class BoundaryFinder {
  readonly #text: string
  readonly #isCaseless: boolean
  readonly #found = new BoundaryList()
  /** The fence that ends the open block of code. */
  #fence: string | null = null
  /** The start of the open block of code or table. */
  #blockStart = -1
  #rows = 0
  #headEnd = -1
  #wasHeading = false
  #wasBlank = false

  constructor(text: string) {
    this.#text = text
    this.#isCaseless = isCaseless(text)
  }

  readLine(line: number, end: number): void {
    if (this.#fence !== null) {
      this.#readCode(line, end, this.#fence)
      this.#wasHeading = false
      this.#wasBlank = false
      return
    }
    const kind = classifyLine(this.#text, line, end)
    if (kind === 'fence') this.#openFence(line, end)
    else if (kind === 'row') this.#readRow(line, end)
    else {
      this.#endTable(line)
      this.#readText(kind, line, end)
    }
    // Only the first line after white space: a million empty lines are not a million boundaries.
    this.#wasBlank = kind === 'blank'
    this.#wasHeading = kind === 'heading' || (this.#wasHeading && this.#wasBlank)
  }

  #readCode(line: number, end: number, fence: string): void {
    this.#found.add(line, Clause)
    if (!this.#text.startsWith(fence, findFirstInk(this.#text, line, end))) return
    this.#fence = null
    this.#found.block(this.#blockStart, end)
    this.#blockStart = -1
    this.#found.add(end, Paragraph)
  }

  #openFence(line: number, end: number): void {
    const at = findFirstInk(this.#text, line, end)
    this.#fence = this.#text.slice(at, at + 3)
    if (!this.#wasHeading) this.#found.add(line, Paragraph)
    this.#blockStart = line
  }

  #readRow(line: number, end: number): void {
    if (this.#blockStart >= 0) {
      this.#found.add(line, Clause)
      if (++this.#rows === 2 && isRule(this.#text, line, end)) this.#headEnd = end
      return
    }
    if (!this.#wasHeading) this.#found.add(line, Paragraph)
    this.#blockStart = line
    this.#rows = 1
    this.#headEnd = -1
  }

  #endTable(end: number): void {
    if (this.#blockStart < 0) return
    this.#found.block(this.#blockStart, end)
    if (this.#headEnd > 0) this.#found.table(this.#blockStart, this.#headEnd, end)
    this.#blockStart = -1
    this.#found.add(end, Paragraph)
  }

  #readText(kind: Kind, line: number, end: number): void {
    const found = this.#found
    // A heading stays with the text below it: no chunk should end with the title of the next one.
    if (kind === 'heading') {
      found.add(line, Heading)
      found.heading(line)
    } else if (kind !== 'blank' && this.#wasBlank && !this.#wasHeading) found.add(line, Paragraph)
    else if (kind === 'item') found.add(line, Sentence)
    else if (kind === 'prose' && !this.#wasHeading) found.add(line, Clause)
    if (kind === 'prose' || kind === 'item')
      scanProse(this.#text, line, end, this.#isCaseless, found)
  }

  end(): Boundaries {
    const { length } = this.#text
    if (this.#blockStart >= 0) this.#found.block(this.#blockStart, length)
    if (this.#blockStart >= 0 && this.#fence === null && this.#headEnd > 0)
      this.#found.table(this.#blockStart, this.#headEnd, length)
    return this.#found.boundaries()
  }
}

function scanProse(
  text: string,
  from: number,
  to: number,
  caseless: boolean,
  found: BoundaryList,
): void {
  for (let i = from; i < to; i++) {
    const mark = classifyMark(text.charCodeAt(i))
    if (mark === 0) continue
    if (mark === Stop || mark === FullStop) {
      const end = sentenceEnd(text, i, caseless)
      if (end < 0) continue
      found.add(skipSpace(text, end, to), Sentence)
      i = end - 1
    } else if (mark === FullComma) found.add(i + 1, Clause)
    else if (mark === Comma && isSpace(text.charCodeAt(i + 1)))
      found.add(skipSpace(text, i + 1, to), Clause)
  }
}

function skipSpace(text: string, at: number, to: number): number {
  let i = at
  while (i < to && isSpace(text.charCodeAt(i))) i++
  return i
}

/** Returns the offset just after the line's newline. */
function findLineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at + 1
}

type Kind = 'blank' | 'heading' | 'fence' | 'row' | 'item' | 'prose'

function classifyLine(text: string, from: number, to: number): Kind {
  const at = findFirstInk(text, from, to)
  if (at === to) return 'blank'
  const c = text[at]
  if (c === '#') return /^#{1,6}[ \t]/.test(text.slice(at, at + 8)) ? 'heading' : 'prose'
  if (c === '`' || c === '~') return text.startsWith(`${c}${c}${c}`, at) ? 'fence' : 'prose'
  if (c === '|') return 'row'
  if (c === '-' || c === '*' || c === '+' || c === '•')
    return isSpace(text.charCodeAt(at + 1)) ? 'item' : 'prose'
  if (c !== undefined && c >= '0' && c <= '9' && /^\d{1,4}[.)]\s/.test(text.slice(at, at + 7)))
    return 'item'
  return hasColumns(text, at, to) ? 'row' : 'prose'
}

/** A longer line is prose that happens to contain tabs. */
const ROW_MAX = 1000

/** Two or more tabs or spaced bars: a row as spreadsheets and our parsers write it. */
function hasColumns(text: string, from: number, to: number): boolean {
  if (to - from > ROW_MAX) return false
  let columns = 0
  for (let i = from + 1; i < to; i++) {
    const code = text.charCodeAt(i)
    if (
      code === 9 ||
      (code === 124 && text.charCodeAt(i - 1) === 32 && text.charCodeAt(i + 1) === 32)
    )
      columns++
    if (columns === 2) return true
  }
  return false
}

/** `| --- | :-: |` makes the row above it a table's header. */
function isRule(text: string, from: number, to: number): boolean {
  let hasDash = false
  for (let i = from; i < to; i++) {
    const c = text[i] as string
    if (c === '-') hasDash = true
    else if (c !== '|' && c !== ':' && !isSpace(text.charCodeAt(i))) return false
  }
  return hasDash
}

function findFirstInk(text: string, from: number, to: number): number {
  let i = from
  while (i < to && isSpace(text.charCodeAt(i))) i++
  return i
}

class BoundaryList {
  #at = new Int32Array(1024)
  #strength = new Uint8Array(1024)
  #count = 0
  #blocks: number[] = []
  #headings: number[] = []
  #tables: number[] = []

  /** The stronger of two reasons counts. A closing quote may have extended over earlier places. */
  add(at: number, strength: number): void {
    const last = this.#count - 1
    if (last >= 0 && (this.#at[last] as number) >= at) {
      if (this.#at[last] === at && (this.#strength[last] as number) < strength)
        this.#strength[last] = strength
      return
    }
    if (this.#count === this.#at.length) this.#grow()
    this.#at[this.#count] = at
    this.#strength[this.#count++] = strength
  }

  block(start: number, end: number): void {
    this.#blocks.push(start, end)
  }

  heading(line: number): void {
    this.#headings.push(line)
  }

  table(start: number, headEnd: number, end: number): void {
    this.#tables.push(start, headEnd, end)
  }

  boundaries(): Boundaries {
    return {
      at: this.#at.subarray(0, this.#count),
      strength: this.#strength.subarray(0, this.#count),
      blocks: Int32Array.from(this.#blocks),
      headings: Int32Array.from(this.#headings),
      tables: Int32Array.from(this.#tables),
    }
  }

  #grow(): void {
    const at = new Int32Array(this.#at.length * 2)
    at.set(this.#at)
    this.#at = at
    const strength = new Uint8Array(this.#strength.length * 2)
    strength.set(this.#strength)
    this.#strength = strength
  }
}
