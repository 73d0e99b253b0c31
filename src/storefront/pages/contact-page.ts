import { type Html, html, raw } from '#platform/http/html.ts'
import { readEmailMessages } from '../messages/emails.ts'

export type ContactParts = {
  values: Partial<Record<'name' | 'email' | 'subject' | 'message', string>>
  error: string | null
}

export const CONTACT_LEAD = 'We read every message and usually reply within one working day.'

export function contactPage({ values, error }: ContactParts): Html {
  return html`<div class="narrow">
<h1>Contact us</h1>
<p class="lead">${CONTACT_LEAD}</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/contact">
<div class="field"><label for="name">Name</label><input id="name" name="name" autocomplete="name" required maxlength="200" value="${values.name}"></div>
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${values.email}"></div>
<div class="field"><label for="subject">Subject</label><select id="subject" name="subject" required>${Object.entries(
    readEmailMessages('en').subjects,
  ).map(
    ([word, label]) =>
      html`<option value="${word}"${word === values.subject ? raw(' selected') : ''}>${label}</option>`,
  )}</select></div>
<div class="field"><label for="message">Message</label><textarea id="message" name="message" required maxlength="10000">
${values.message}</textarea></div>
<button class="button wide">Send message</button>
</form></div>`
}

export function contactSentPage(): Html {
  return html`<div class="narrow"><h1>Message sent</h1>
<div class="notice" role="status"><p>Thank you. We emailed you a confirmation.</p></div>
<p><a class="button quiet" href="/">Back to home</a></p></div>`
}
