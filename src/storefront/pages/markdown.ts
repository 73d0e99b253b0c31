/**
 * Renders the Markdown of descriptions, release notes, documentation and legal pages as HTML: the
 * blocks of markdown-blocks.ts, **strong**, *emphasis*, `code` and links. All other text, including
 * HTML, is escaped. Links may use http, https, mailto, a path of this server or a place on the page.
 */
import { type Html, html, raw } from '#platform/http/html.ts'
import { type Block, parseBlocks } from './markdown-blocks.ts'

const HEADING_LEVEL_MAX = 6

type Options = {
  /** The level of the text's highest heading, one below the heading above the text. */
  heading?: number
  /** Gives each heading an id and a link to itself. */
  anchors?: boolean
}

export function markdown(text: string, { heading = 3, anchors = false }: Options = {}): Html {
  return html`${new BlockRenderer(heading, anchors ? new HeadingIds() : null).render(parseBlocks(text))}`
}

class BlockRenderer {
  readonly #top: number
  readonly #ids: HeadingIds | null
  /** The depths of the headings around the current text. */
  #depths: number[] = []

  constructor(top: number, ids: HeadingIds | null) {
    this.#top = top
    this.#ids = ids
  }

  render(blocks: readonly Block[]): Html[] {
    return blocks.map((block) => this.#renderBlock(block))
  }

  #renderBlock(block: Block): Html {
    switch (block.kind) {
      case 'paragraph':
        return html`<p>${inline(block.text)}</p>`
      case 'heading':
        return this.#renderHeading(block.depth, block.text)
      case 'code':
        // Keyboards can scroll a wide block.
        return html`<pre tabindex="0"><code>${block.text}</code></pre>`
      case 'table':
        return renderTable(block.head, block.rows)
      case 'list': {
        const items = block.items.map((item) => html`<li>${this.#renderItem(item)}</li>`)
        return block.start === null
          ? html`<ul>${items}</ul>`
          : html`<ol start="${block.start}">${items}</ol>`
      }
    }
  }

  #renderItem([first, ...rest]: readonly Block[]): (Html | undefined)[] {
    const text =
      first?.kind === 'paragraph' ? inline(first.text) : first && this.#renderBlock(first)
    return [text, ...this.render(rest)]
  }

  /** A heading is at most one level below the one before it, as assistive software expects. */
  #renderHeading(depth: number, text: string): Html {
    this.#depths = [...this.#depths.filter((outer) => outer < depth), depth]
    const level = Math.min(this.#top + this.#depths.length - 1, HEADING_LEVEL_MAX)
    const tag = raw(`h${level}`)
    if (this.#ids === null) return html`<${tag}>${inline(text)}</${tag}>`
    const id = this.#ids.create(text)
    const label = `Link to “${plainText(text)}”`
    return html`<${tag} id="${id}">${inline(text)} <a class="anchor" href="#${id}" aria-label="${label}">#</a></${tag}>`
  }
}

/** Creates the ids of headings as GitHub does, so that links work in both places. */
export class HeadingIds {
  readonly #counts = new Map<string, number>()

  create(heading: string): string {
    const id = plainText(heading)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = this.#counts.get(id) ?? 0
    this.#counts.set(id, count + 1)
    return count === 0 ? id : `${id}-${count}`
  }
}

/** Keyboards can scroll a wide table. */
function renderTable(head: string[], rows: string[][]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${head.map((cell) => (cell === '' ? html`<td></td>` : html`<th scope="col">${inline(cell)}</th>`))}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>\n`)}</tbody></table></div>`
}

/** Returns the part before the first heading below the start. */
export function cutIntroduction(text: string): string {
  const lines = text.trim().split(/\r?\n/)
  const end = lines.findIndex((line, index) => index > 0 && /^#{1,6}\s/.test(line))
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

const INLINE =
  /`([^`]+)`|\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)|\*(?=[^\s*])([^*]+)(?<=\S)\*|\[([^\]]+)\]\(((?:https?:\/\/|mailto:|\/(?![/\\])|#)[^\s()]+)\)/s

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
