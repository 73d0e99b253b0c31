import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'

export function recoveryPage(messages: PageMessages, { isSent }: { isSent: boolean }): Html {
  const text = messages.recover
  return html`<div class="narrow">
<h1>${text.title}</h1>
<p class="lead">${text.lead}</p>
${isSent && html`<div class="notice" role="status"><p>${text.sent}</p></div>`}
<form class="card" method="post" action="/recover">
<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254"></div>
<button class="button wide">${text.button}</button>
</form>
<p class="under">${text.signedInBefore} <a href="/dashboard">${text.signedInLink}</a>.</p>
</div>`
}
