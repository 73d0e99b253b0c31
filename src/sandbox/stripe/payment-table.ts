/** Renders payments with buttons for refunds, disputes and bank debits. */
import type { Stripe } from 'stripe'
import { type Html, html } from '#platform/http/html.ts'
import { currencyName, inUnits, minorDigits } from '#platform/money.ts'
import { money, time } from '../page.ts'
import type { ProcessorDeps } from './deps.ts'
import { findDispute, isLost, isOpen } from './disputes.ts'
import { badge, toIso } from './hosted-page.ts'

/** `back`: the page to return to. */
export function paymentTable(
  deps: ProcessorDeps,
  charges: readonly Stripe.Charge[],
  back: string,
): Html {
  if (charges.length === 0) return html`<p class="quiet">None yet.</p>`
  return html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Payment</th><th scope="col">From</th><th scope="col">Date</th><th scope="col">Status</th><th scope="col" class="right">Amount</th><th scope="col">Actions</th></tr></thead><tbody>
${charges.map((charge) => row(deps, charge, back))}</tbody></table></div>`
}

function row(deps: ProcessorDeps, charge: Stripe.Charge, back: string): Html {
  const dispute = findDispute(deps, charge.id)
  const left = charge.amount - charge.amount_refunded
  const status = dispute ? dispute.status : charge.refunded ? 'refunded' : charge.status
  const typed = (minor: number) =>
    inUnits(minor, charge.currency).toFixed(minorDigits(charge.currency))
  const press = (action: string, words: string, more: Html = html``, kind = 'plain') =>
    html`<form method="post" action="/sandbox/processor/charges/${charge.id}/${action}" class="row"><input type="hidden" name="back" value="${back}">${more}<button class="${kind}">${words}</button></form>`

  return html`<tr><td class="mono small">…${charge.id.slice(-8)}</td>
<td class="small">${charge.billing_details.email ?? ''}</td>
<td class="small">${time(toIso(charge.created))}</td><td>${badge(status)}</td>
<td class="right amount">${money(charge.amount, charge.currency)}${charge.amount_refunded > 0 ? html`<br><span class="small quiet">−${money(charge.amount_refunded, charge.currency)}</span>` : ''}</td>
<td><div class="row">
${charge.status === 'pending' ? [press('settle', 'Settle debit'), press('bounce', 'Reject debit', html``, 'danger')] : ''}
${
  charge.status === 'succeeded' && left > 0 && !dispute
    ? [
        press('refund', left === charge.amount ? 'Refund' : 'Refund the rest'),
        press(
          'refund',
          'Refund amount',
          html`<input type="number" name="units" min="${typed(1)}" max="${typed(left)}" step="${typed(1)}" value="${typed(Math.max(1, Math.floor(left / 2)))}" aria-label="Amount to refund, in ${currencyName(charge.currency)}">`,
        ),
        press('dispute', 'Dispute', html``, 'danger'),
      ]
    : ''
}
${charge.amount_refunded > 0 && !dispute ? press('fail-refund', 'Fail the refund') : ''}
${dispute && isOpen(dispute) ? [press('lose', 'Lose the dispute', html``, 'danger'), press('win', 'Win the dispute')] : ''}
${dispute && isLost(dispute) ? press('reinstate', 'Reinstate the payment') : ''}
</div></td></tr>`
}
