/** Shared parts of the processor's pages. */
import type { FastifyInstance } from 'fastify'
import { type Html, html } from '#platform/http/html.ts'
import type { Form } from '../form.ts'
import { show } from '../page.ts'
import { groupDigits, TEST_CARDS } from './cards.ts'
import { Fault } from './fault.ts'

/** A failed action shows its reason on a page. */
export function showFaultsAsPages(app: FastifyInstance): void {
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof Fault)) throw error
    const title = 'Request failed'
    const main = html`<div class="card narrow"><h1>${title}</h1><p>${error.message}</p>
<p><a href="/sandbox/processor">Go to the processor’s dashboard</a></p></div>`
    return show(reply, { title, place: 'processor', main, hosted: true }, error.status)
  })
}

/** Renders radio buttons for the test cards of these payment method types; null: all. */
export function cardChoice(chosen: string, kinds: readonly string[] | null = null): Html {
  const cards = TEST_CARDS.filter(({ kind }) => kinds === null || kinds.includes(kind))
  return html`<fieldset><legend>Pay with</legend>
${cards.map(
  (
    card,
  ) => html`<label class="choice"><input type="radio" name="card" value="${card.number}"${card.number === chosen ? html` checked` : ''}>
<span class="grow"><span class="mono">${groupDigits(card.number)}</span><br><span class="small quiet">${card.name} – ${card.outcome}</span></span></label>`,
)}</fieldset>`
}

export function badge(status: string): Html {
  const good = ['active', 'paid', 'succeeded', 'complete', 'delivered', 'won', 'trialing']
  const bad = [
    'past_due',
    'unpaid',
    'failed',
    'canceled',
    'incomplete_expired',
    'lost',
    'given-up',
    'disputed',
    'needs_response',
    'uncollectible',
  ]
  const tone = good.includes(status) ? ' good' : bad.includes(status) ? ' bad' : ''
  return html`<span class="badge${tone}">${status.replaceAll('_', ' ')}</span>`
}

export const toIso = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString()

export const field = (form: unknown, name: string): string => {
  const value = (form as Form | undefined)?.[name]
  return typeof value === 'string' ? value : ''
}
