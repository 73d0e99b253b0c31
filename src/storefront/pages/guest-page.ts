import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import type { Claimable } from '../claims/claims.ts'
import type { CheckoutState } from '../payments/payments.ts'
import { WAIVERS } from '../withdrawals/waiver.ts'

export type GuestSale = {
  product: CatalogueProduct
  email: string
  code: string
  hasWaiver: boolean
  isWaived: boolean
  /** Where a buyer with an account signs in. */
  signIn: string
  error: string | null
}

export function guestCheckoutPage(sale: GuestSale): Html {
  const { product, email, code, hasWaiver, isWaived, signIn, error } = sale
  const price = formatMoney(product.price, product.currency, { short: true })
  return html`<div class="narrow">
<h1>Buy ${product.name}</h1>
<p class="lead">${price}, paid once. No account needed: we email your license key and a link to your downloads.</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/checkout">
<input type="hidden" name="tier" value="${product.tier}">
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"><small>Check it: your license key goes there.</small></div>
<div class="field"><label for="code">Promotion code (optional)</label><input id="code" name="code" autocomplete="off" maxlength="100" value="${code}"></div>
${
  hasWaiver &&
  html`<div class="check"><input id="waiver" name="waiver" type="checkbox" value="${WAIVERS.en.version}"${isWaived ? raw(' checked') : ''}><label for="waiver">${WAIVERS.en.text} (optional)</label></div>`
}
<button class="button wide">Continue to payment</button>
</form>
<p class="under">Do you have an account? <a href="${signIn}">Sign in</a> to buy with it.</p>
</div>`
}

/** Contains nothing about the buyer, because anyone may have the address of the page. */
export function purchasedPage(state: CheckoutState): Html {
  const [title, text] = ORDER[state]
  return html`<div class="narrow empty"><h1>${title}</h1><p class="lead" role="status">${text}</p>
${state === 'unknown' && html`<p><a class="button" href="/contact">Contact us</a></p>`}
${state === 'paid' && html`<p class="soft">No email after some minutes? Look into the spam folder, or <a href="/recover">have it sent again</a>.</p>`}
</div>`
}

const ORDER: Record<CheckoutState, [title: string, text: string]> = {
  paid: [
    'Thank you. Check your inbox',
    'Your payment has arrived. We emailed your license key and a link that opens your purchase.',
  ],
  settling: [
    'Your payment is processing',
    'This can take some days. We will email your license key when the payment arrives.',
  ],
  pending: [
    'Confirming your payment',
    'This page updates automatically, and we will email you when the payment is confirmed.',
  ],
  unknown: [
    'No pending payment found',
    'If your bank declined the payment, you were not charged. If you paid and got no email, contact us.',
  ],
}

export type ClaimParts = {
  token: string
  /** The address that the link was mailed to. */
  email: string
  claimable: Claimable
  caller: Caller | null
}

export function claimPage({ token, email, claimable, caller }: ClaimParts): Html {
  const isNew = claimable === 'account'
  const needsSignIn = !isNew && caller === null
  return html`<div class="narrow">
<h1>${isNew ? 'Open your purchase' : 'Add the purchase to your account'}</h1>
<p class="lead">${
    isNew
      ? html`This confirms <strong>${email}</strong> and signs you in.`
      : html`The purchase was made for <strong>${email}</strong>.${needsSignIn && ' Sign in to that account first.'}`
  }</p>
${
  needsSignIn
    ? html`<p><a class="button wide" href="${buildSignIn(token)}">Sign in</a></p>`
    : html`<form class="card" method="post" action="/claim"><input type="hidden" name="token" value="${token}"><button class="button wide">${isNew ? 'Open my purchase' : 'Add to my account'}</button></form>`
}
<p class="under">You did not buy anything? Close this page. Without this button, nothing happens.</p>
</div>`
}

/** Returns the address of the sign-in that leads back to the link. */
export function buildSignIn(token: string): string {
  return `/login?redirect=${encodeURIComponent(`/claim?${new URLSearchParams({ token })}`)}`
}
