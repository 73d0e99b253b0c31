import { Marked, type Token, type TokenizerExtension, walkTokens } from 'marked'

/** `[1]` or `[1, 3]`: cites passages. `ordinal` counts the citations before it in its block. */
export type CitationToken = { type: 'citation'; raw: string; numbers: number[]; ordinal: number }
export type MathsToken = { type: 'maths'; raw: string; tex: string; isDisplay: boolean }
/** `[^label]` in a text. */
export type NoteMarkToken = { type: 'note-mark'; raw: string; label: string }
/** `[^label]: text`, a block. */
export type NoteToken = { type: 'note'; raw: string; label: string; tokens: Token[] }

/** A part of an answer that renders by itself: a paragraph, a list, a block of code. */
export type Block = { raw: string; tokens: Token[]; citations: number }

/** "$10, or US$": a price and words. */
const PRICE = /^\d[\d.,]*\W.*(?<![\\{a-z])[a-z]{2,}/i
/** A single `$` opens maths only as in Pandoc, because answers mention prices. */
const INLINE_MATHS = [
  { rule: /^\$\$([^$]+?)\$\$/, isDisplay: true },
  { rule: /^\$(?![\s$])((?:\\.|[^\\$\n])*?[^\s\\$])\$(?!\d)/, isDisplay: false },
  { rule: /^\\\(([\s\S]+?)\\\)/, isDisplay: false },
  { rule: /^\\\[([\s\S]+?)\\\]/, isDisplay: true },
]
/** Maths has no blank lines. */
const BLOCK_MATHS =
  /^ {0,3}(?:\$\$((?:(?!\n\s*\n)[^$])+)\$\$|\\\[((?:(?!\n\s*\n)[\s\S])+?)\\\])[^\S\n]*(?:\n+|$)/
const CITATION = /^\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\](?![(:])/
const NOTE_MARK = /^\[\^([^\]\s]+)\](?!:)/
const NOTE_LINE = /^\[\^[^\]\s]+\]:/m
/** Lines of a note after its first are indented. */
const NOTE =
  /^\[\^([^\]\s]+)\]:[^\S\n]*([^\n]*(?:\n(?: {2,}|\t)[^\n]+|\n+(?: {4}|\t)[^\n]+)*)(?:\n+|$)/

const maths: TokenizerExtension = {
  name: 'maths',
  level: 'inline',
  start: (text) => find(text, /\$|\\[([]/),
  tokenizer(text) {
    for (const { rule, isDisplay } of INLINE_MATHS) {
      const match = rule.exec(text)
      if (match && (isDisplay || !PRICE.test(match[1] ?? '')))
        return { type: 'maths', raw: match[0], tex: match[1], isDisplay }
    }
    return undefined
  },
}

const mathsBlock: TokenizerExtension = {
  name: 'maths-block',
  level: 'block',
  start: (text) => findLine(text, /\n {0,3}(?:\$\$|\\\[)/),
  tokenizer(text) {
    const match = BLOCK_MATHS.exec(text)
    return match
      ? { type: 'maths', raw: match[0], tex: match[1] ?? match[2], isDisplay: true }
      : undefined
  },
}

const note: TokenizerExtension = {
  name: 'note',
  level: 'block',
  start: (text) => findLine(text, /\n\[\^[^\]\s]+\]:/),
  tokenizer(text) {
    const match = NOTE.exec(text)
    if (!match) return undefined
    const body = (match[2] ?? '').replace(/\n(?: {1,4}|\t)/g, '\n')
    return {
      type: 'note',
      raw: match[0],
      label: match[1],
      tokens: this.lexer.blockTokens(body, []),
    }
  },
}

const noteMark: TokenizerExtension = {
  name: 'note-mark',
  level: 'inline',
  tokenizer(text) {
    const match = NOTE_MARK.exec(text)
    return match ? { type: 'note-mark', raw: match[0], label: match[1] } : undefined
  },
}

const citation: TokenizerExtension = {
  name: 'citation',
  level: 'inline',
  tokenizer(text) {
    const match = CITATION.exec(text)
    if (!match) return undefined
    return {
      type: 'citation',
      raw: match[0],
      numbers: (match[1] ?? '').split(',').map(Number),
      ordinal: 0,
    }
  },
}

/** A note ends the block above it, so no heading of several lines contains one. */
const tokenizer = {
  lheading(this: { rules: { block: { lheading: RegExp } } }, text: string): undefined | false {
    const heading = this.rules.block.lheading.exec(text)?.[0] ?? ''
    return NOTE_LINE.test(heading) ? undefined : false
  },
}

const plain = new Marked({ extensions: [maths, mathsBlock, note, noteMark], tokenizer })
const cited = new Marked({ extensions: [maths, mathsBlock, note, noteMark, citation], tokenizer })

/**
 * Splits Markdown into blocks. Definitions of links apply to the whole text. With `isCited`, numbers
 * in brackets cite passages.
 */
export function splitBlocks(text: string, isCited: boolean): Block[] {
  const marked = isCited ? cited : plain
  const blocks: Block[] = []
  let at = 0
  for (const token of marked.lexer(text)) {
    const last = blocks.at(-1)
    // The token's own text has the right length, but not always the right blanks.
    const raw = text.slice(at, at + token.raw.length)
    at += token.raw.length
    // Blank lines belong to the block above, so that the blocks' texts are the whole text.
    if (token.type === 'space' && last) last.raw += raw
    else blocks.push({ raw, tokens: [token], citations: numberCitations([token]) })
  }
  return blocks
}

function numberCitations(tokens: Token[]): number {
  let count = 0
  walkTokens(tokens, (token) => {
    if (token.type !== 'citation') return
    const citation = token as CitationToken
    citation.ordinal = count
    count += citation.numbers.length
  })
  return count
}

function find(text: string, rule: RegExp): number | undefined {
  return rule.exec(text)?.index
}

/** Returns where the line begins that follows the matched line break. */
function findLine(text: string, rule: RegExp): number | undefined {
  const at = find(text, rule)
  return at === undefined ? undefined : at + 1
}
