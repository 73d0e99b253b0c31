/**
 * Parses the blocks of Markdown: paragraphs, headings, fenced code, tables, and lists, whose items
 * may contain blocks. More lenient than CommonMark: two spaces suffice to continue an item.
 */

export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'heading'; depth: number; text: string }
  | { kind: 'code'; text: string }
  /** `start`: the first number; null for a list without numbers. */
  | { kind: 'list'; start: number | null; items: Block[][] }
  | { kind: 'table'; head: string[]; rows: string[][] }

const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+/
const FENCE = /^(\s*)(```|~~~)/
const DELIMITERS = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/
const ITEM_INDENT = 2
/** Deeper lists are shown as text, so that hostile texts cannot exhaust the stack. */
const LIST_DEPTH_MAX = 8

export function parseBlocks(text: string): Block[] {
  return new BlockReader(text.trimEnd().split(/\r?\n/), 0).readAll()
}

class BlockReader {
  readonly #lines: readonly string[]
  readonly #depth: number
  #at = 0

  constructor(lines: readonly string[], depth: number) {
    this.#lines = lines
    this.#depth = depth
  }

  readAll(): Block[] {
    const blocks: Block[] = []
    while (this.#at < this.#lines.length) {
      if (isBlank(this.#line)) this.#at++
      else blocks.push(this.#readBlock())
    }
    return blocks
  }

  get #line(): string {
    return this.#lines[this.#at] ?? ''
  }

  #readBlock(): Block {
    if (FENCE.test(this.#line)) return this.#readCode()
    const heading = HEADING.exec(this.#line)
    if (heading) {
      this.#at++
      return { kind: 'heading', depth: heading[1]?.length ?? 1, text: heading[2] ?? '' }
    }
    if (this.#beginsTable(this.#at)) return this.#readTable()
    const item = ITEM.exec(this.#line)
    if (item && this.#depth < LIST_DEPTH_MAX) return this.#readList(item)
    return this.#readParagraph()
  }

  /** A missing last fence ends with the text. */
  #readCode(): Block {
    const [, indent = '', fence = ''] = FENCE.exec(this.#line) ?? []
    const lines: string[] = []
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line
      if (line.trimStart().startsWith(fence)) break
      lines.push(cutIndent(line, indent.length))
    }
    this.#at++
    return { kind: 'code', text: lines.join('\n') }
  }

  #beginsTable(at: number): boolean {
    const [head = '', delimiters = ''] = this.#lines.slice(at, at + 2)
    return (
      head.trimStart().startsWith('|') &&
      DELIMITERS.test(delimiters) &&
      splitCells(head).length === splitCells(delimiters).length
    )
  }

  /** Missing cells are empty, and cells beyond the head are dropped. */
  #readTable(): Block {
    const head = splitCells(this.#line)
    const rows: string[][] = []
    for (this.#at += 2; this.#line.trimStart().startsWith('|'); this.#at++) {
      const cells = splitCells(this.#line)
      rows.push(head.map((_cell, index) => cells[index] ?? ''))
    }
    return { kind: 'table', head, rows }
  }

  #readList(first: RegExpExecArray): Block {
    const baseIndent = first[1]?.length ?? 0
    const isNumbered = first[2] !== undefined
    const items: Block[][] = []
    for (;;) {
      const item = ITEM.exec(this.#line)
      const isNext = item && isNumbered === (item[2] !== undefined)
      if (!isNext || (item[1]?.length ?? 0) - baseIndent >= ITEM_INDENT) break
      const lines = this.#readItemLines(item[0].length, baseIndent)
      items.push(new BlockReader(lines, this.#depth + 1).readAll())
    }
    return { kind: 'list', start: isNumbered ? Number(first[2]) : null, items }
  }

  /**
   * Reads the lines of one item without their indentation, and skips the blank lines before the
   * next item. `width`: the characters before the item's text.
   */
  #readItemLines(width: number, baseIndent: number): string[] {
    const lines = [this.#line.slice(width)]
    this.#at++
    while (this.#at < this.#lines.length) {
      const next = this.#findNextText()
      const line = this.#lines[next] ?? ''
      const isInside = countIndent(line) - baseIndent >= ITEM_INDENT
      const isLazy = next === this.#at && !this.#endsParagraph(next) && lines.at(-1)?.trim() !== ''
      if (!isInside && !isLazy) {
        if (ITEM.test(line)) this.#at = next
        return lines
      }
      if (next > this.#at) lines.push('')
      lines.push(isInside ? cutIndent(line, width) : line.trim())
      this.#at = next + 1
    }
    return lines
  }

  #findNextText(): number {
    let next = this.#at
    while (next < this.#lines.length && isBlank(this.#lines[next] ?? '')) next++
    return next
  }

  #readParagraph(): Block {
    const lines = [this.#line]
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      if (isBlank(this.#line) || this.#endsParagraph(this.#at)) break
      lines.push(this.#line.trim())
    }
    return { kind: 'paragraph', text: lines.join('\n').trim() }
  }

  #endsParagraph(at: number): boolean {
    const line = this.#lines[at] ?? ''
    return HEADING.test(line) || FENCE.test(line) || ITEM.test(line) || this.#beginsTable(at)
  }
}

const isBlank = (line: string): boolean => line.trim() === ''

const countIndent = (line: string): number => line.length - line.trimStart().length

function cutIndent(line: string, width: number): string {
  return line.slice(Math.min(width, countIndent(line)))
}

/** `\|` is a bar within a cell. */
function splitCells(line: string): string[] {
  const row = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}
