/**
 * Renders the Markdown of a product's description: paragraphs, headings, lists, **strong**,
 * *emphasis*, `code` and links. All other text, including HTML, is escaped. Links may use http,
 * https, mailto or a path of this server.
 */
import { type Html, html } from '#platform/http/html.ts'

const HEADING = /^#{1,6}\s+(.*?)\s*#*$/
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+/

export function markdown(text: string): Html {
  return html`${splitIntoBlocks(text).map(renderBlock)}`
}

function splitIntoBlocks(text: string): string[][] {
  const blocks: string[][] = []
  let open: string[] | null = null
  for (const line of text.trim().split(/\r?\n/)) {
    const isHeading = HEADING.test(line)
    const beginsList = ITEM.test(line) && !ITEM.test(open?.[0] ?? '')
    if (line.trim() === '' || isHeading || beginsList) open = null
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

function renderBlock(lines: string[]): Html {
  const [first = ''] = lines
  const heading = HEADING.exec(first)
  // The product's name above the description is an h2.
  if (heading) return html`<h3>${inline(heading[1] ?? '')}</h3>`
  const list = ITEM.exec(first)
  if (!list) return html`<p>${inline(lines.join('\n'))}</p>`
  const items = parseItems(lines).map((item) => html`<li>${inline(item)}</li>`)
  return list[1] === undefined
    ? html`<ul>${items}</ul>`
    : html`<ol start="${Number(list[1])}">${items}</ol>`
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
  const found = INLINE.exec(text)
  if (!found) return html`${text}`
  const [whole, code, strong, emphasis, label, target] = found
  const marked =
    code !== undefined
      ? html`<code>${code}</code>`
      : strong !== undefined
        ? html`<strong>${inline(strong)}</strong>`
        : emphasis !== undefined
          ? html`<em>${inline(emphasis)}</em>`
          : html`<a href="${target}">${inline(label ?? '')}</a>`
  return html`${text.slice(0, found.index)}${marked}${inline(text.slice(found.index + whole.length))}`
}
