/**
 * Renders the Markdown of descriptions, release notes and legal pages: paragraphs, headings, lists,
 * fenced code, **strong**, *emphasis*, `code` and links. All other text, including HTML, is escaped.
 * Links may use http, https, mailto or a path of this server.
 */
import { type Html, html, raw } from '#platform/http/html.ts'

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+/
const FENCE = /^\s{0,3}(?:```|~~~)/
const HEADING_LEVEL_MAX = 6

/** `heading`: the level of the text's highest heading, one below the heading above the text. */
export function markdown(text: string, { heading = 3 } = {}): Html {
  const levels = new HeadingLevels(heading)
  return html`${splitIntoBlocks(text).map((lines) => renderBlock(lines, levels))}`
}

/** A heading is at most one level below the one before it, as assistive software expects. */
class HeadingLevels {
  readonly #top: number
  /** The depths of the headings around the current text. */
  #depths: number[] = []

  constructor(top: number) {
    this.#top = top
  }

  next(depth: number): number {
    this.#depths = [...this.#depths.filter((outer) => outer < depth), depth]
    return Math.min(this.#top + this.#depths.length - 1, HEADING_LEVEL_MAX)
  }
}

function splitIntoBlocks(text: string): string[][] {
  const blocks: string[][] = []
  let open: string[] | null = null
  for (const line of text.trim().split(/\r?\n/)) {
    const isFence = FENCE.test(line)
    if (open !== null && FENCE.test(open[0] ?? '')) {
      open.push(line)
      if (isFence) open = null
      continue
    }
    const isHeading = HEADING.test(line)
    const beginsList = ITEM.test(line) && !ITEM.test(open?.[0] ?? '')
    if (line.trim() === '' || isHeading || beginsList || isFence) open = null
    if (line.trim() === '') continue
    if (open === null) {
      open = []
      blocks.push(open)
    }
    open.push(line)
    if (isHeading) open = null
  }
  return blocks
}

function renderBlock(lines: string[], levels: HeadingLevels): Html {
  const [first = ''] = lines
  if (FENCE.test(first)) return renderCode(lines)
  const heading = HEADING.exec(first)
  if (heading) {
    const tag = raw(`h${levels.next(heading[1]?.length ?? 1)}`)
    return html`<${tag}>${inline(heading[2] ?? '')}</${tag}>`
  }
  const list = ITEM.exec(first)
  if (!list) return html`<p>${inline(lines.join('\n'))}</p>`
  const items = parseItems(lines).map((item) => html`<li>${inline(item)}</li>`)
  return list[1] === undefined
    ? html`<ul>${items}</ul>`
    : html`<ol start="${Number(list[1])}">${items}</ol>`
}

/** Keyboards can scroll a wide block. A missing last fence ends with the text. */
function renderCode(lines: string[]): Html {
  const isClosed = lines.length > 1 && FENCE.test(lines.at(-1) ?? '')
  const code = lines.slice(1, isClosed ? -1 : undefined).join('\n')
  return html`<pre tabindex="0"><code>${code}</code></pre>`
}

/** Returns the part before the first heading below the start. */
export function cutIntroduction(text: string): string {
  const lines = text.trim().split(/\r?\n/)
  const end = lines.findIndex((line, index) => index > 0 && HEADING.test(line))
  return (end < 0 ? lines : lines.slice(0, end)).join('\n')
}

/** Returns the text without its marks, for descriptions of pages. */
export function plainText(text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}\s+|[-*+]\s+|(?:```|~~~).*$)/gm, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`|\*(?=\S)|(?<=\S)\*/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A line without a list marker continues the item above it. */
function parseItems(lines: string[]): string[] {
  const items: string[] = []
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`)
  }
  return items
}

const INLINE =
  /`([^`]+)`|\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)|\*(?=[^\s*])([^*]+)(?<=\S)\*|\[([^\]]+)\]\(((?:https?:\/\/|mailto:|\/(?!\/))[^\s()]+)\)/s

function inline(text: string): Html {
  const parts: (Html | string)[] = []
  let rest = text
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    parts.push(rest.slice(0, found.index), renderMark(found))
    rest = rest.slice(found.index + found[0].length)
  }
  return html`${parts}${rest}`
}

function renderMark([, code, strong, emphasis, label, target]: RegExpExecArray): Html {
  if (code !== undefined) return html`<code>${code}</code>`
  if (strong !== undefined) return html`<strong>${inline(strong)}</strong>`
  if (emphasis !== undefined) return html`<em>${inline(emphasis)}</em>`
  return html`<a href="${target}">${inline(label ?? '')}</a>`
}
