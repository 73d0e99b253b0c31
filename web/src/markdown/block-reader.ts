import { closeMarks } from './close-marks.ts'
import { type Block, splitBlocks } from './lexer.ts'

/** Definitions apply to the blocks before them too. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m

/**
 * Splits a growing text into blocks and parses only the last block again: more text cannot change
 * the blocks before it. Unchanged blocks stay the same objects, so that they render once.
 */
export class BlockReader {
  readonly #isCited: boolean
  #text = ''
  #blocks: Block[] = []
  #shown: Block[] = []

  constructor(isCited: boolean) {
    this.#isCited = isCited
  }

  read(received: string, isGrowing: boolean): Block[] {
    // As the lexer does, so that the lengths of its blocks fit.
    const text = received.replace(/\r\n?/g, '\n')
    if (isGrowing) this.#readMore(text)
    else this.#readWhole(text)
    return this.#shown
  }

  #readMore(text: string): void {
    const settled = text.startsWith(this.#text) ? this.#blocks.slice(0, -1) : []
    const from = settled.reduce((length, { raw }) => length + raw.length, 0)
    const more = splitBlocks(text.slice(from), this.#isCited)
    this.#text = text
    this.#blocks = [...settled, ...more]
    this.#shown = this.#closeLast(this.#blocks)
  }

  /** The end of the text is known. */
  #readWhole(text: string): void {
    const blocks = splitBlocks(text, this.#isCited)
    const isSame = (block: Block, at: number) => this.#shown[at]?.raw === block.raw
    this.#shown = DEFINITION.test(text)
      ? blocks
      : blocks.map((block, at) => (isSame(block, at) ? (this.#shown[at] ?? block) : block))
    this.#text = text
    this.#blocks = this.#shown
  }

  #closeLast(blocks: Block[]): Block[] {
    const last = blocks.at(-1)
    const type = last?.tokens[0]?.type
    if (!last || type === 'code' || type === 'html' || /^ *(?:```|~~~)/m.test(last.raw))
      return blocks
    const closed = closeMarks(last.raw)
    return closed === last.raw
      ? blocks
      : [...blocks.slice(0, -1), ...splitBlocks(closed, this.#isCited)]
  }
}
