// Checks an answer's citations while it is written: each statement with a mark like `[2]` against
// passage 2. Unsupported marks are removed. Only the text from a mark to its sentence's end is held
// back.
import { sentenceEnd } from '#embeddings/sentences.ts'
import { type CitedPassage, findQuote, type Quote, readUnits, type Unit } from './quotes.ts'
import { type Claim, checkSupport, type ReadText, readClaim, readText } from './support.ts'

export type Citation = {
  /** The source's number in the answer, from 1. */
  source: number
  /** The statement's place in the answer, in UTF-16 units. */
  start: number
  end: number
  /** False: the mark was removed. */
  supported: boolean
  /** The supporting sentences; null where it is not supported, or none matches. */
  quote: Quote | null
}

/** `[2]`, `[2, 3]`, or, as some models write it, `【2】`. */
const MARK = /[[【]\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*(?:†[^\]】\n]{0,40})?[\]】]/y
const MARKS = new RegExp(MARK.source, 'g')
/** An unfinished mark at the end of the received text. */
const UNFINISHED_MARK = /^[[【][\s\d,;]{0,40}(?:†[^\]】\n]{0,40})?$/
/** Follows the brackets of a link or of its definition, which are no mark. */
const LINK_REST = /^[(:]/
/** Maximum length of held-back text; no real sentence is longer. */
const HELD_MAX = 4_000
/** With fewer words before it, a mark cites the whole sentence. */
const WORDS_MIN = 3

export class CitationCheck {
  readonly #citations: Citation[] = []
  readonly #passages: readonly CitedPassage[]
  readonly #read: ReadText[]
  readonly #knownText: ReadText
  /** By source; read when the first statement needs them. */
  readonly #units = new Map<number, Unit[]>()
  /** The line that is being written, how much of it was shown, and how much of that was checked. */
  #line = ''
  #shown = 0
  #checked = 0
  /** Length of the shown text over all lines. */
  #written = 0
  #isInBlock = false
  /** The last sentence with a mark. */
  #last: Statement | null = null

  /** `known` contains the question and the documents' names, whose words a statement may use. */
  constructor(passages: readonly CitedPassage[], known: string) {
    this.#passages = passages
    this.#read = passages.map(({ text }) => readText(text))
    this.#knownText = readText(known)
  }

  /** Returns the part of the answer that can be shown now. */
  push(more: string): string {
    const lines = more.split('\n')
    const rest = lines.pop() ?? ''
    let text = ''
    for (const end of lines) {
      this.#line += `${end}\n`
      text += this.#endLine()
    }
    this.#line += rest
    // Only the end of a line shows whether the line opens a block of code.
    return this.#isInBlock || MAYBE_FENCE.test(this.#line) ? text : text + this.#advance(false)
  }

  /** Returns the rest of the answer. */
  end(): string {
    return this.#endLine()
  }

  /** Returns the citations so far; their offsets are in the shown text. */
  citations(): Citation[] {
    return this.#citations
  }

  #endLine(): string {
    const isFence = FENCE.test(this.#line)
    const text =
      this.#isInBlock || isFence ? this.#show(this.#line.slice(this.#shown)) : this.#advance(true)
    if (isFence) this.#isInBlock = !this.#isInBlock
    this.#line = ''
    this.#shown = 0
    this.#checked = 0
    return text
  }

  /** `isLast`: this this.#line is complete. */
  #advance(isLast: boolean): string {
    let text = ''
    while (this.#shown < this.#line.length) {
      const mark = findNextMark(this.#line, this.#shown, isLast)
      let until = mark?.at ?? this.#line.length
      // Removing a mark also removes the spaces before it.
      if (mark !== null || !isLast)
        while (until > this.#shown && isBlank(this.#line[until - 1])) until--
      text += this.#show(this.#line.slice(this.#shown, until))
      this.#shown = until
      if (mark === null || !mark.isWhole) return text
      const end = findSentenceEnd(this.#line, mark.at)
      if (end === null && !isLast && this.#line.length - mark.at < HELD_MAX) return text
      text += this.#check(
        findSentenceStart(this.#line, this.#checked, mark.at),
        end ?? this.#line.length,
      )
    }
    return text
  }

  /** `from` to the first mark is shown already. Returns the rest with its supported marks. */
  #check(from: number, to: number): string {
    const sentence = this.#line.slice(from, to)
    /** Maps a place in the sentence, minus the removed marks, to its place in the answer. */
    const offset = this.#written - (this.#shown - from)
    const whole: Statement = {
      text: removeMarks(sentence),
      start: offset + readIndent(sentence),
      end: offset,
    }
    let at = this.#shown - from
    let behind = 0
    let leftOut = 0
    let rest = ''
    const marks = findGroups(sentence, at).map(({ start, end, numbers }) => {
      const text = sentence.slice(behind, start)
      const statement = { text, start: offset + behind + readIndent(text) - leftOut }
      const quotes = this.#findQuotes(numbers, statement, whole)
      const supported = [...quotes.keys()]
      const before = sentence.slice(at, start)
      const shownMarks = supported.map((number) => `[${number}]`).join('')
      const shownAs = `${shownMarks === '' ? before.trimEnd() : before}${shownMarks}`
      rest += shownAs
      leftOut += end - at - shownAs.length
      at = end
      behind = end
      return {
        numbers,
        quotes,
        statement: isStatement(statement.text) ? statement : null,
        end: offset + end - leftOut,
      }
    })
    rest += sentence.slice(at)
    whole.end = offset + sentence.trimEnd().length - leftOut
    const of = countTerms(whole.text) === 0 && this.#last !== null ? this.#last : whole
    for (const { numbers, quotes, statement, end } of marks) {
      const { start } = statement ?? of
      for (const source of numbers) {
        const quote = quotes.get(source) ?? null
        this.#citations.push({
          source,
          start,
          end: statement === null ? of.end : end,
          supported: quotes.has(source),
          quote,
        })
      }
    }
    this.#last = of
    this.#shown = to
    this.#checked = to
    return this.#show(rest)
  }

  /** Returns the sources that support the statement, each with its quote. */
  #findQuotes(
    numbers: number[],
    { text }: Pick<Statement, 'text'>,
    whole: Statement,
  ): Map<number, Quote | null> {
    const before =
      countTerms(whole.text) === 0 && this.#last !== null ? this.#last.text : whole.text
    const existing = numbers.filter((number) => number >= 1 && number <= this.#read.length)
    const cited = existing.map((number) => this.#read[number - 1] as ReadText)
    const claim = readClaim(isStatement(text) ? text : before)
    const verdicts = checkSupport(claim, cited, this.#knownText)
    const supported = existing.filter((_, i) => verdicts[i])
    return new Map(supported.map((source) => [source, this.#findSourceQuote(source, claim)]))
  }

  #findSourceQuote(source: number, claim: Claim): Quote | null {
    const passage = this.#passages[source - 1] as CitedPassage
    const known = this.#units.get(source) ?? readUnits(passage)
    this.#units.set(source, known)
    return findQuote(claim, known, passage)
  }

  #show(text: string): string {
    this.#written += text.length
    return text
  }
}

function readIndent(text: string): number {
  return text.length - text.trimStart().length
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\u00a0' || character === '\u202f' || character === '\t'
}

type Statement = { text: string; start: number; end: number }

const FENCE = /^\s*(```|~~~)/
const MAYBE_FENCE = /^\s*(`{0,2}|~{0,2})$/

function isStatement(text: string): boolean {
  return countTerms(text) >= WORDS_MIN
}

/** Outside of links and code. Not whole: only more text decides where the mark ends. */
function findNextMark(
  line: string,
  from: number,
  isLast: boolean,
): { at: number; isWhole: boolean } | null {
  for (let at = from; at < line.length; at++) {
    const character = line[at]
    if (character === '`') {
      const end = line.indexOf('`', at + 1)
      if (end === -1) return isLast ? null : { at, isWhole: false }
      at = end
    }
    if (character !== '[' && character !== '【') continue
    MARK.lastIndex = at
    const mark = MARK.exec(line)
    if (mark === null) {
      if (!isLast && UNFINISHED_MARK.test(line.slice(at))) return { at, isWhole: false }
      continue
    }
    const behind = at + mark[0].length
    if (behind === line.length && !isLast) return { at, isWhole: false }
    if (!LINK_REST.test(line.slice(behind))) return { at, isWhole: true }
    at = behind - 1
  }
  return null
}

function findSentenceStart(line: string, from: number, before: number): number {
  let start = from
  for (let at = from; at < before; at++) {
    const end = sentenceEnd(line, at)
    if (end > at && end <= before && countTerms(line.slice(end, before)) > 0) start = end
  }
  return start
}

/** Includes the marks after the sentence's stop; null while the end is not known. */
function findSentenceEnd(line: string, mark: number): number | null {
  const isBehindStop = /[.!?…。！？｡؟۔।][)\]"'”’»]*\s*$/u.test(
    line.slice(Math.max(0, mark - 8), mark),
  )
  for (let at = mark; at < line.length; at++) {
    const end = isBehindStop ? mark : sentenceEnd(line, at)
    if (end < at) continue
    const next = FOLLOWING_MARKS.exec(line.slice(end))?.[0].length ?? 0
    const to = end + next
    return to >= line.length || line[to] === '[' || line[to] === '【' ? null : to
  }
  return null
}

/** Includes the spaces up to the next sentence. */
const FOLLOWING_MARKS = /^\s*(?:[[【][^\]】]{0,60}[\]】]\s*[.,;]?\s*)*/

/** Marks that follow one another cite the same statement. */
function findGroups(
  sentence: string,
  from: number,
): { start: number; end: number; numbers: number[] }[] {
  const groups: { start: number; end: number; numbers: number[] }[] = []
  let at = from
  for (;;) {
    const start = findNextMark(sentence, at, true)?.at
    if (start === undefined) return groups
    MARK.lastIndex = start
    const [mark = ''] = MARK.exec(sentence) ?? []
    const numbers = (mark.split('†')[0]?.match(/\d+/g) ?? []).map(Number)
    at = start + mark.length
    const before = groups.at(-1)
    if (before !== undefined && /^[\s,;]*$/.test(sentence.slice(before.end, start))) {
      before.end = at
      before.numbers = [...new Set([...before.numbers, ...numbers])]
    } else groups.push({ start, end: at, numbers })
  }
}

function removeMarks(text: string): string {
  return text.replace(MARKS, ' ')
}

function countTerms(text: string): number {
  return removeMarks(text).match(/[\p{L}\p{N}]+/gu)?.length ?? 0
}
