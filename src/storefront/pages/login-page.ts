import { type Html, html } from '#platform/http/html.ts'

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
  /** The names of the configured sign-in providers. */
  providers: readonly string[]
}

export function loginPage({
  redirect,
  email,
  error,
  needsCode,
  challenge,
  frontendUrl,
  guestAddress,
  providers,
}: LoginParts): Html {
  const isBuying = redirect.startsWith('/api/checkout')
  return html`<div class="narrow">
<h1>Sign in</h1>
<p class="lead">${isBuying ? 'Sign in to continue to checkout.' : 'Use the email and password of your account.'}</p>
${error && html`<div class="notice ${needsCode ? 'warn' : 'bad'}" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/login" data-login${challenge ? html` data-challenge="${JSON.stringify(challenge)}"` : ''}>
<input type="hidden" name="redirect" value="${redirect}">
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}"></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="128"></div>
${
  needsCode &&
  html`<div class="field"><label for="code">Two-factor code</label><input id="code" name="code" inputmode="text" autocomplete="one-time-code" required maxlength="100" aria-describedby="code-help"><small id="code-help">From your authenticator app, or one of your recovery codes.</small></div>`
}
<button class="button wide">Sign in</button>
</form>
<p class="under"><a class="button quiet wide" href="/login/code?redirect=${encodeURIComponent(redirect)}">Sign in with a code by email</a></p>
<p><a class="button quiet wide" href="/login/account?redirect=${redirect}">Sign in with ${listOtherWays(providers)}</a></p>
${guestAddress && html`<p><a class="button quiet wide" href="${guestAddress}">Buy without an account</a></p>`}
<p class="under">No account yet? <a href="${frontendUrl}/register" target="_blank" rel="noopener">Create an account</a>. <a href="${frontendUrl}/forgot-password">Forgot your password?</a></p>
</div>`
}

/** For example “Google, GitHub or a passkey”. */
function listOtherWays(providers: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format([...providers, 'a passkey'])
}
