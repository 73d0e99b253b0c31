/** HTML templates: every inserted value is escaped, unless it is Html. */
import type { FastifyReply } from 'fastify'
import { PAGE_HEADERS } from './headers.ts'

/** Markup that is inserted without escaping. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
  toString(): string {
    return this.markup
  }
}

type Part = Html | string | number | boolean | null | undefined | readonly Part[]

/**
 * Builds markup, for example `` html`<p>${name}</p>` ``. Escapes strings and numbers, inserts Html
 * unchanged, joins arrays, and omits null, undefined and booleans.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((markup, text, index) => markup + render(parts[index - 1]) + text))
}

/** Marks a text as safe markup. Only for markup from this code base. */
export function raw(markup: string): Html {
  return new Html(markup)
}

/** Sends a whole document. */
export function page(reply: FastifyReply, document: Html, status = 200): FastifyReply {
  return reply
    .status(status)
    .headers(PAGE_HEADERS)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(`<!doctype html>\n${document.markup}`)
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => ESCAPES[character] ?? character)
}

function render(part: Part): string {
  if (part === null || part === undefined || typeof part === 'boolean') return ''
  if (part instanceof Html) return part.markup
  if (typeof part === 'object') return part.map(render).join('')
  return escapeHtml(String(part))
}
