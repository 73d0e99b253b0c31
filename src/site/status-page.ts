/** The public status page: what works now, and what did not in the last 24 hours. */
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { Locale } from '#platform/locale.ts'
import { readMessages } from '#storefront/messages/pages.ts'
import { sendPage } from '#storefront/pages/layout.ts'
import { findCaller, type SiteDeps } from './deps.ts'
import { SITE_MESSAGES, type SiteMessages } from './messages.ts'
import { type Incident, LiveStatus, type State, type Status } from './status.ts'

export function statusRoutes(app: App, deps: SiteDeps): void {
  const live = new LiveStatus(deps)
  app.get('/status', { config: { access: 'anyone' } }, async (request, reply) => {
    const status = await live.get()
    // The page must also appear while the database is away, which has the sessions.
    const caller = await findCaller(deps, request).catch(() => null)
    const messages = readMessages(request, caller, deps.config.brand)
    const { title, description } = SITE_MESSAGES[messages.locale].status
    return sendPage(reply, deps, {
      title,
      body: statusPage(status, messages.locale),
      caller,
      messages,
      path: '/status',
      listing: { path: '/status', description: description(deps.config.brand.name) },
    })
  })
}

const LOOKS: Record<State, string> = {
  works: '',
  limited: ' warn',
  paused: ' warn',
  down: ' bad',
  unknown: ' warn',
}

type Row = { label: string; state: State }
type Texts = SiteMessages['status']

function statusPage({ at, parts, vendors, incidents }: Status, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].status
  const rows = [
    { label: text.website, state: 'works' as const },
    ...parts.map(({ name, state }) => ({ label: text.parts[name], state })),
  ]
  return html`<div class="wrap reading">
<div class="hero"><h1>${summarize([...rows, ...vendors], text)}</h1><p class="lead">${text.checkedAt(time(at, locale))}</p></div>
${stateList('services', text.services, rows, text)}
${vendors.length > 0 && stateList('models', text.models, vendors, text)}
<section class="part" aria-labelledby="incidents"><h2 id="incidents">${text.incidents}</h2>
${incidents.length === 0 ? html`<p class="soft">${text.none}</p>` : html`<ul class="items states">${incidents.map((incident) => html`<li>${describe(incident, locale)}</li>`)}</ul>`}</section>
</div>`
}

function summarize(rows: readonly Row[], text: Texts): string {
  if (rows.every(({ state }) => state === 'works')) return text.everythingWorks
  return rows.some(({ state }) => state === 'down') ? text.someDown : text.someLimited
}

function stateList(id: string, title: string, rows: readonly Row[], { states }: Texts): Html {
  return html`<section class="part" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<ul class="items states">${rows.map(({ label, state }) => html`<li><span>${label}</span><span class="badge${LOOKS[state]}">${states[state]}</span></li>`)}</ul></section>`
}

function describe(incident: Incident, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].status
  const from = time(incident.from, locale)
  const until = incident.kind === 'paused' ? null : incident.until
  const span = until === null ? text.since(from) : text.span(from, time(until, locale))
  return html`<span>${nameIncident(incident, locale)}</span><span class="soft">${span}</span>`
}

function nameIncident(incident: Incident, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].status
  if (incident.kind === 'paused') return text.paused(incident.what)
  if (incident.kind === 'outage')
    return text.failed(incident.what, Math.round(100 * incident.failedShare))
  const names = incident.parts.map((part) => text.stoppable[part])
  return text.stopped(new Intl.ListFormat(locale).format(names))
}

/** Renders `27 Nov, 10:15 UTC`. */
function time(instant: string, locale: Locale): Html {
  const text = new Date(instant).toLocaleString(locale === 'de' ? 'de-DE' : 'en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  })
  return html`<time datetime="${instant}">${text} UTC</time>`
}
