import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'

/** Page with a heading, one sentence and one link. */
export function messagePage(
  title: string,
  text: string,
  link: { to: string; label: string },
): Html {
  return html`<div class="narrow empty"><h1>${title}</h1><p class="lead">${text}</p><p><a class="button" href="${link.to}">${link.label}</a></p></div>`
}

export function notFoundPage({ notFound: text }: PageMessages): Html {
  return messagePage(text.heading, text.text, { to: '/', label: text.back })
}
