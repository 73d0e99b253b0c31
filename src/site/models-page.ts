/** The models that plans include: live from the catalogue, without those that are switched off. */
import { listPlanModels, type PlanModel } from '#ai/plan-models.ts'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import { sendPage } from '#storefront/pages/layout.ts'
import { findCaller, type SiteDeps } from './deps.ts'

export function modelRoutes(app: App, deps: SiteDeps): void {
  app.get('/models', { config: { access: 'anyone' } }, async (request, reply) => {
    const { plans } = deps.config.catalogue
    const models = listPlanModels(deps.gateway.config, plans)
    const vendors = [...new Set(models.map(({ vendor }) => vendor.label))]
    return sendPage(reply, deps, {
      title: 'Models',
      body: modelsPage(models, deps.gateway.config.pricesAsOf),
      caller: await findCaller(deps, request),
      path: '/models',
      listing: {
        path: '/models',
        description: `The models of ${deps.config.brand.name}, with prices and context: ${vendors.join(', ')}.`,
      },
    })
  })
}

function modelsPage(models: readonly PlanModel[], pricesAsOf: string): Html {
  const groups = Map.groupBy(models, ({ vendor }) => vendor.label)
  return html`<div class="wrap">
<div class="hero"><h1>Models</h1><p class="lead">${
    models.length === 0
      ? 'No models are available at the moment.'
      : `${models.length} models from one account. Prices are in US dollars per million tokens, as of ${pricesAsOf}.`
  }</p></div>
${[...groups].map(
  (
    [vendor, list],
    index,
  ) => html`<section class="part" aria-labelledby="vendor-${index}"><h2 id="vendor-${index}">${vendor}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Models of ${vendor}"><table>
<thead><tr><th scope="col">Model</th><th scope="col">Kind</th><th scope="col">Context</th><th scope="col">Input</th><th scope="col">Output</th><th scope="col">Plans</th></tr></thead>
<tbody>${list.map(modelRow)}</tbody></table></div></section>`,
)}
</div>`
}

function modelRow(model: PlanModel): Html {
  const { id, kind, contextTokens, price, plans } = model
  const context = contextTokens === null ? 'unknown' : contextTokens.toLocaleString('en')
  return html`<tr><td><code>${id}</code></td><td>${kind}</td><td>${context}</td><td>${formatPrice(price.input)}</td><td>${kind === 'chat' ? formatPrice(price.output) : '–'}</td><td>${plans.map(({ name }) => name).join(', ')}</td></tr>\n`
}

/** Prices below a cent keep their digits. */
function formatPrice(amount: number): string {
  return amount > 0 && amount < 0.01 ? `$${amount}` : formatMoney(amount, 'usd')
}
