import { type Html, html, raw } from '#platform/http/html.ts'
import { readEmailMessages } from '../messages/emails.ts'
import type { PageMessages } from '../messages/pages.ts'

export type ContactParts = {
  values: Partial<Record<'name' | 'email' | 'subject' | 'message', string>>
  error: string | null
  messages: PageMessages
}

export function contactPage({ values, error, messages }: ContactParts): Html {
  const text = messages.contact
  return html`<div class="narrow">
<h1>${text.heading}</h1>
<p class="lead">${text.lead}</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/contact">
<div class="field"><label for="name">${text.name}</label><input id="name" name="name" autocomplete="name" required maxlength="200" value="${values.name}"></div>
<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${values.email}"></div>
<div class="field"><label for="subject">${text.subject}</label><select id="subject" name="subject" required>${Object.entries(
    readEmailMessages(messages.locale).subjects,
  ).map(
    ([word, label]) =>
      html`<option value="${word}"${word === values.subject ? raw(' selected') : ''}>${label}</option>`,
  )}</select></div>
<div class="field"><label for="message">${text.message}</label><textarea id="message" name="message" required maxlength="10000">
${values.message}</textarea></div>
<button class="button wide">${text.button}</button>
</form></div>`
}

export function contactSentPage({ contact: text }: PageMessages): Html {
  return html`<div class="narrow"><h1>${text.sent}</h1>
<div class="notice" role="status"><p>${text.sentText}</p></div>
<p><a class="button quiet" href="/">${text.back}</a></p></div>`
}
