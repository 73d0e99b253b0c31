import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { AccountMethod } from '../sessions/account-sign-in.ts'

export type LoginParts = {
  redirect: string
  email: string
  error: string | null
  /** The account has two-factor authentication. */
  needsCode: boolean
  /** A proof-of-work challenge, which the browser solves before it sends the form again. */
  challenge?: unknown
  frontendUrl: string
  /** Where visitors buy without an account; null where they cannot. */
  guestAddress: string | null
  /** The methods of the account app that are configured. */
  methods: readonly AccountMethod[]
  messages: PageMessages
}

export function loginPage({
  redirect,
  email,
  error,
  needsCode,
  challenge,
  frontendUrl,
  guestAddress,
  methods,
  messages,
}: LoginParts): Html {
  const text = messages.login
  const isBuying = redirect.startsWith('/api/checkout')
  return html`<div class="narrow">
<h1>${text.title}</h1>
<p class="lead">${isBuying ? text.buying : text.lead}</p>
${error && html`<div class="notice ${needsCode ? 'warn' : 'bad'}" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/login" data-login${challenge ? html` data-challenge="${JSON.stringify(challenge)}"` : ''}>
<input type="hidden" name="redirect" value="${redirect}">
<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}"></div>
<div class="field"><label for="password">${text.password}</label><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="128"></div>
${
  needsCode &&
  html`<div class="field"><label for="code">${text.twoFactor}</label><input id="code" name="code" inputmode="text" autocomplete="one-time-code" required maxlength="100" aria-describedby="code-help"><small id="code-help">${text.twoFactorHelp}</small></div>`
}
<button class="button wide">${text.title}</button>
</form>
<p class="under"><a class="button quiet wide" href="/login/code?redirect=${encodeURIComponent(redirect)}">${text.byCode}</a></p>
${methods.map((method) => html`<p><a class="button quiet wide" href="/login/account?with=${method}&amp;redirect=${redirect}">${text.signInWith(METHOD_NAMES[method] ?? text.passkey)}</a></p>`)}
${guestAddress && html`<p><a class="button quiet wide" href="${guestAddress}">${text.asGuest}</a></p>`}
<p class="under">${text.noAccount} <a href="${frontendUrl}/register" target="_blank" rel="noopener">${text.createAccount}</a>. <a href="${frontendUrl}/forgot-password">${text.forgot}</a></p>
</div>`
}

/** A passkey has a name in each language. */
const METHOD_NAMES: Partial<Record<AccountMethod, string>> = { google: 'Google', github: 'GitHub' }
