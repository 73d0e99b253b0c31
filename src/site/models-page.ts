/** The models that plans include: live from the catalogue, without those that are switched off. */
import { listPlanModels, type PlanModel } from '#ai/plan-models.ts'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { formatDate, type Locale } from '#platform/locale.ts'
import { formatMoney } from '#platform/money.ts'
import { readMessages } from '#storefront/messages/pages.ts'
import { sendPage } from '#storefront/pages/layout.ts'
import { findCaller, type SiteDeps } from './deps.ts'
import { SITE_MESSAGES, type SiteMessages } from './messages.ts'

const QUERY_LENGTH_MAX = 100

export function modelRoutes(app: App, deps: SiteDeps): void {
  app.get('/models', { config: { access: 'anyone' } }, async (request, reply) => {
    const { plans } = deps.config.catalogue
    const models = listPlanModels(deps.gateway.config, plans)
    const { q } = request.query as { q?: unknown }
    const query = typeof q === 'string' ? q.slice(0, QUERY_LENGTH_MAX).trim() : ''
    const vendors = [...new Set(models.map(({ vendor }) => vendor.label))]
    const caller = await findCaller(deps, request)
    const messages = readMessages(request, caller, deps.config.brand)
    const { title, description } = SITE_MESSAGES[messages.locale].models
    return sendPage(reply, deps, {
      title,
      body: modelsPage(models, query, deps.gateway.config.pricesAsOf, messages.locale),
      caller,
      messages,
      path: '/models',
      listing: {
        path: '/models',
        description: description(deps.config.brand.name, vendors.join(', ')),
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

function modelsPage(
  models: readonly PlanModel[],
  query: string,
  pricesAsOf: string,
  locale: Locale,
): Html {
  const text = SITE_MESSAGES[locale].models
  const found = findModels(models, query)
  const groups = Map.groupBy(found, ({ vendor }) => vendor.label)
  return html`<div class="wrap">
<div class="hero"><h1>${text.title}</h1><p class="lead">${
    models.length === 0 ? text.none : text.lead(models.length, formatDate(pricesAsOf, locale))
  }</p></div>
${models.length > 0 && searchForm(query, found.length, text)}
${[...groups].map(
  (
    [vendor, list],
    index,
  ) => html`<section class="part" aria-labelledby="vendor-${index}"><h2 id="vendor-${index}">${vendor}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="${text.ofVendor(vendor)}"><table>
<thead><tr>${text.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${list.map((model) => modelRow(model, locale))}</tbody></table></div></section>`,
)}
</div>`
}

function searchForm(query: string, count: number, text: SiteMessages['models']): Html {
  return html`<form class="docs-search" role="search" action="/models" method="get">
<input type="search" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" placeholder="${text.placeholder}" aria-label="${text.searchModels}">
<button class="button quiet">${text.search}</button></form>
${query !== '' && html`<p class="soft" role="status">${text.found(count)} <a href="/models">${text.showAll}</a></p>`}`
}

function modelRow(model: PlanModel, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].models
  const { id, kind, contextTokens, price, plans } = model
  const context = contextTokens === null ? text.unknown : contextTokens.toLocaleString(locale)
  const output = kind === 'chat' ? formatPrice(price.output, locale) : '–'
  return html`<tr><td><code>${id}</code></td><td>${text.kinds[kind]}</td><td>${context}</td><td>${formatPrice(price.input, locale)}</td><td>${output}</td><td>${plans.map(({ name }) => name).join(', ')}</td></tr>\n`
}

/** Prices below a cent keep their digits. */
function formatPrice(amount: number, locale: Locale): string {
  const options = { style: 'currency', currency: 'USD', maximumFractionDigits: 10 } as const
  return amount > 0 && amount < 0.01
    ? amount.toLocaleString(locale === 'de' ? 'de-DE' : 'en-US', options)
    : formatMoney(amount, 'usd', { locale })
}
