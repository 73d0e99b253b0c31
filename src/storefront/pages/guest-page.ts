import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { CheckoutState } from '../payments/payments.ts'
import type { Claimable } from '../purchases/emails.ts'
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
  messages: PageMessages
}

export function guestCheckoutPage(sale: GuestSale): Html {
  const { product, email, code, hasWaiver, isWaived, signIn, error, messages } = sale
  const { checkout: text, locale } = messages
  const price = formatMoney(product.price, product.currency, { short: true, locale })
  return html`<div class="narrow">
<h1>${text.heading(product.name)}</h1>
<p class="lead">${text.lead(price)}</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/checkout">
<input type="hidden" name="tier" value="${product.tier}">
<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"><small>${text.emailHelp}</small></div>
<div class="field"><label for="code">${text.code}</label><input id="code" name="code" autocomplete="off" maxlength="100" value="${code}"></div>
${
  hasWaiver &&
  html`<div class="check"><input id="waiver" name="waiver" type="checkbox" value="${WAIVERS[locale].version}"${isWaived ? raw(' checked') : ''}><label for="waiver">${WAIVERS[locale].text} ${messages.product.optional}</label></div>`
}
<button class="button wide">${text.button}</button>
</form>
<p class="under">${text.hasAccount} <a href="${signIn}">${text.signIn}</a>${text.toBuy}</p>
</div>`
}

/** Contains nothing about the buyer, because anyone may have the address of the page. */
export function purchasedPage(state: CheckoutState, messages: PageMessages): Html {
  const { order } = messages
  const [title, text] = order[state]
  return html`<div class="narrow empty"><h1>${title}</h1><p class="lead" role="status">${text}</p>
${state === 'unknown' && html`<p><a class="button" href="/contact">${messages.contactUs}</a></p>`}
${state === 'paid' && html`<p class="soft">${order.noEmail} <a href="/recover">${order.again}</a>.</p>`}
</div>`
}

export type ClaimParts = {
  token: string
  /** The address that the link was mailed to. */
  email: string
  claimable: Claimable
  caller: Caller | null
  messages: PageMessages
}

export function claimPage({ token, email, claimable, caller, messages }: ClaimParts): Html {
  const { claim: text } = messages
  const isNew = claimable === 'account'
  const needsSignIn = !isNew && caller === null
  return html`<div class="narrow">
<h1>${isNew ? text.open : text.add}</h1>
<p class="lead">${
    isNew
      ? html`${text.confirmsBefore} <strong>${email}</strong> ${text.confirmsAfter}`
      : html`${text.madeFor} <strong>${email}</strong>.${needsSignIn && ` ${text.signInFirst}`}`
  }</p>
${
  needsSignIn
    ? html`<p><a class="button wide" href="${buildSignIn(token)}">${text.signIn}</a></p>`
    : html`<form class="card" method="post" action="/claim"><input type="hidden" name="token" value="${token}"><button class="button wide">${isNew ? text.openButton : text.addButton}</button></form>`
}
<p class="under">${text.notYou}</p>
</div>`
}

/** Returns the address of the sign-in that leads back to the link. */
export function buildSignIn(token: string): string {
  return `/login?redirect=${encodeURIComponent(`/claim?${new URLSearchParams({ token })}`)}`
}
