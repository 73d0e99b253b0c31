import { type Html, html } from '#platform/http/html.ts'

export function requestCodePage(redirect: string): Html {
  return html`<div class="narrow">
<h1>Sign in with a code</h1>
<p class="lead">We email a code to the address of your account.</p>
<form class="card" method="post" action="/login/code">
<input type="hidden" name="redirect" value="${redirect}">
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="username" required maxlength="254"></div>
<button class="button wide">Email me a code</button>
</form>
<p class="under"><a href="/login?redirect=${encodeURIComponent(redirect)}">Sign in another way</a></p>
</div>`
}

export type CodeParts = {
  email: string
  redirect: string
  /** The entered code, while only the second factor is missing. */
  code: string
  needsCode: boolean
  error: string | null
}

export function enterCodePage({ email, redirect, code, needsCode, error }: CodeParts): Html {
  return html`<div class="narrow">
<h1>Check your inbox</h1>
<p class="lead">If ${email} belongs to an account, we emailed how to sign in. The code works for ten minutes, in this browser.</p>
${error && html`<div class="notice ${needsCode ? 'warn' : 'bad'}" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/login/code/confirm">
<input type="hidden" name="redirect" value="${redirect}"><input type="hidden" name="email" value="${email}">
<div class="field"><label for="code">Code from the email</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="20" value="${needsCode ? code : ''}"></div>
${
  needsCode &&
  html`<div class="field"><label for="second_factor">Two-factor code</label><input id="second_factor" name="second_factor" autocomplete="off" required maxlength="100" aria-describedby="second-help"><small id="second-help">From your authenticator app, or one of your recovery codes.</small></div>`
}
<button class="button wide">Sign in</button>
</form>
<p class="under">No email? Look into the spam folder, or <a href="/login/code?redirect=${encodeURIComponent(redirect)}">request a new code</a>.</p>
</div>`
}
