/** The models that plans include: live from the catalogue, without those that are switched off. */
import { listPlanModels, type PlanModel } from '#ai/plan-models.ts'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { formatMoney } from '#platform/money.ts'
import { sendPage } from '#storefront/pages/layout.ts'
import { findCaller, type SiteDeps } from './deps.ts'

const QUERY_LENGTH_MAX = 100

export function modelRoutes(app: App, deps: SiteDeps): void {
  app.get('/models', { config: { access: 'anyone' } }, async (request, reply) => {
    const { plans } = deps.config.catalogue
    const models = listPlanModels(deps.gateway.config, plans)
    const { q } = request.query as { q?: unknown }
    const query = typeof q === 'string' ? q.slice(0, QUERY_LENGTH_MAX).trim() : ''
    const vendors = [...new Set(models.map(({ vendor }) => vendor.label))]
    return sendPage(reply, deps, {
      title: 'Models',
      body: modelsPage(models, query, deps.gateway.config.pricesAsOf),
      caller: await findCaller(deps, request),
      path: '/models',
      listing: {
        path: '/models',
        description: `The models of ${deps.config.brand.name}, with prices and context: ${vendors.join(', ')}.`,
      },
    })
  })
}

/** Returns the models of which each word of the query names the model, its vendor, kind or plan. */
function findModels(models: readonly PlanModel[], query: string): readonly PlanModel[] {
  const words = query.toLowerCase().split(/\s+/)
  return models.filter(({ id, vendor, kind, plans }) => {
    const text = [id, vendor.name, vendor.label, kind, ...plans.map(({ name }) => name)]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

function modelsPage(models: readonly PlanModel[], query: string, pricesAsOf: string): Html {
  const found = findModels(models, query)
  const groups = Map.groupBy(found, ({ vendor }) => vendor.label)
  return html`<div class="wrap">
<div class="hero"><h1>Models</h1><p class="lead">${
    models.length === 0
      ? 'No models are available at the moment.'
      : `${models.length} models from one account. Prices are in US dollars per million tokens, as of ${pricesAsOf}.`
  }</p></div>
${models.length > 0 && searchForm(query, found.length)}
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

function searchForm(query: string, count: number): Html {
  const result = count === 0 ? 'No model matches.' : count === 1 ? '1 model' : `${count} models`
  return html`<form class="docs-search" role="search" action="/models" method="get">
<input type="search" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" placeholder="Name, vendor, kind or plan" aria-label="Search the models">
<button class="button quiet">Search</button></form>
${query !== '' && html`<p class="soft" role="status">${result} <a href="/models">Show all</a></p>`}`
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
