import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'

export function requestCodePage(redirect: string, messages: PageMessages): Html {
  const text = messages.code
  return html`<div class="narrow">
<h1>${text.heading}</h1>
<p class="lead">${text.lead}</p>
<form class="card" method="post" action="/login/code">
<input type="hidden" name="redirect" value="${redirect}">
<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="username" required maxlength="254"></div>
<button class="button wide">${text.button}</button>
</form>
<p class="under"><a href="/login?redirect=${encodeURIComponent(redirect)}">${text.otherWay}</a></p>
</div>`
}

export type CodeParts = {
  email: string
  redirect: string
  /** The entered code, while only the second factor is missing. */
  code: string
  needsCode: boolean
  error: string | null
  messages: PageMessages
}

export function enterCodePage({
  email,
  redirect,
  code,
  needsCode,
  error,
  messages,
}: CodeParts): Html {
  const text = messages.code
  return html`<div class="narrow">
<h1>${text.check}</h1>
<p class="lead">${text.sent(email)}</p>
${error && html`<div class="notice ${needsCode ? 'warn' : 'bad'}" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/login/code/confirm">
<input type="hidden" name="redirect" value="${redirect}"><input type="hidden" name="email" value="${email}">
<div class="field"><label for="code">${text.label}</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="20" value="${needsCode ? code : ''}"></div>
${
  needsCode &&
  html`<div class="field"><label for="second_factor">${messages.login.twoFactor}</label><input id="second_factor" name="second_factor" autocomplete="off" required maxlength="100" aria-describedby="second-help"><small id="second-help">${messages.login.twoFactorHelp}</small></div>`
}
<button class="button wide">${messages.login.title}</button>
</form>
<p class="under">${text.noEmail} <a href="/login/code?redirect=${encodeURIComponent(redirect)}">${text.again}</a>.</p>
</div>`
}
