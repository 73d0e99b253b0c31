/** Raised and lowered text within a line of a PDF, by size and baseline: `10^3`, `x_n`, `H₂O`. */
import { markScript, type Script } from './formulas.ts'

/** Text with its baseline and size; y grows downwards. */
type Piece = { text: string; y: number; height: number }

/** LibreOffice writes 0.58, TeX 0.7, browsers 0.75 to 0.83; beside a drop cap it is less. */
const HEIGHT = { min: 0.55, max: 0.82 }
/** The minimum distance from the baseline, as a share of the line's height. */
const SHIFT_MIN = 0.1
/** Longer text next to a large letter is the text of a paragraph. */
const SCRIPT = /^[+\-−–±]?[\p{L}\p{N}.,+\-−=/]{1,10}$/u
const BLANK_AT_END = /\s$/

/** Reads the pieces of one line in their order. */
export class LineScripts {
  /** The largest piece so far. Its baseline is the line's baseline. */
  #base: Piece
  /** True when the text ends with a script that would merge with a following letter. */
  #isOpen = false

  constructor(first: Piece) {
    this.#base = first
  }

  /**
   * Returns the text of the next piece, with a mark if it is a script.
   *
   * @param gap from the end of the line to the piece
   * @param before the text of the piece before it
   */
  read(piece: Piece, gap: number, before: string): string {
    const { text } = piece
    if (text.trim() === '') {
      if (text !== '') this.#isOpen = false
      return text
    }
    const isOpen = this.#isOpen && /^[\p{L}\p{N}]/u.test(text)
    const script = BLANK_AT_END.test(before) ? '' : this.#findScript(piece, gap)
    const marked = script === '' ? text : markScript(before, text, script)
    this.#isOpen = marked !== text && /[\p{L}\d]$/u.test(marked)
    if (piece.height > this.#base.height) this.#base = piece
    return isOpen && script === '' ? ` ${marked}` : marked
  }

  #findScript({ text, y, height }: Piece, gap: number): Script {
    const base = this.#base
    const share = height / base.height
    const shift = base.y - y
    const isSet =
      share >= HEIGHT.min && share <= HEIGHT.max && Math.abs(shift) >= base.height * SHIFT_MIN
    // Text after a space has no base before it.
    if (!isSet || gap > base.height * 0.15 || !SCRIPT.test(text.trim())) return ''
    return shift > 0 ? '^' : '_'
  }
}
