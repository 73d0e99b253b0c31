import { type Html, html } from '#platform/http/html.ts'

/** A page with one message and one link. */
export function messagePage(
  title: string,
  text: string,
  link: { to: string; label: string },
): Html {
  return html`<div class="narrow empty"><h1>${title}</h1><p class="lead">${text}</p><p><a class="button" href="${link.to}">${link.label}</a></p></div>`
}

export function notFoundPage(): Html {
  return messagePage('Nothing here', 'This page does not exist, or it has moved.', {
    to: '/',
    label: 'To the shop',
  })
}
