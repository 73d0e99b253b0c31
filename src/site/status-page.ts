/** The public status page: what works now, and what did not in the last 24 hours. */
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { sendPage } from '#storefront/pages/layout.ts'
import { findCaller, type SiteDeps } from './deps.ts'
import { type Incident, LiveStatus, type Part, type State, type Status } from './status.ts'

export function statusRoutes(app: App, deps: SiteDeps): void {
  const live = new LiveStatus(deps)
  app.get('/status', { config: { access: 'anyone' } }, async (request, reply) => {
    const status = await live.get()
    // The page must also appear while the database is away, which has the sessions.
    const caller = await findCaller(deps, request).catch(() => null)
    return sendPage(reply, deps, {
      title: 'Status',
      body: statusPage(status),
      caller,
      path: '/status',
      listing: {
        path: '/status',
        description: `What works at ${deps.config.brand.name} now, and incidents of the last 24 hours.`,
      },
    })
  })
}

const PARTS: Record<Part['name'], string> = {
  app: 'App and API',
  changes: 'Saving changes',
  email: 'Emails',
  payments: 'Payments',
}

const STATES: Record<State, { label: string; look: string }> = {
  works: { label: 'Works', look: '' },
  limited: { label: 'Partly', look: ' warn' },
  paused: { label: 'Paused', look: ' warn' },
  down: { label: 'Does not work', look: ' bad' },
  unknown: { label: 'Unknown', look: ' warn' },
}

function statusPage({ at, parts, vendors, incidents }: Status): Html {
  const rows = [
    { label: 'Website and shop', state: 'works' as const },
    ...parts.map(({ name, state }) => ({ label: PARTS[name], state })),
  ]
  return html`<div class="wrap reading">
<div class="hero"><h1>${summarize([...rows, ...vendors])}</h1><p class="lead">Checked at ${time(at)}.</p></div>
${stateList('services', 'Services', rows)}
${vendors.length > 0 && stateList('models', 'Models', vendors)}
<section class="part" aria-labelledby="incidents"><h2 id="incidents">Incidents</h2>
${incidents.length === 0 ? html`<p class="soft">None in the last 24 hours.</p>` : html`<ul class="items states">${incidents.map((incident) => html`<li>${describe(incident)}</li>`)}</ul>`}</section>
</div>`
}

function summarize(rows: readonly { state: State }[]): string {
  if (rows.every(({ state }) => state === 'works')) return 'Everything works'
  return rows.some(({ state }) => state === 'down')
    ? 'Some parts do not work'
    : 'Some parts work only partly'
}

function stateList(
  id: string,
  title: string,
  rows: readonly { label: string; state: State }[],
): Html {
  return html`<section class="part" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<ul class="items states">${rows.map(({ label, state }) => html`<li><span>${label}</span><span class="badge${STATES[state].look}">${STATES[state].label}</span></li>`)}</ul></section>`
}

function describe(incident: Incident): Html {
  const { what, from } = incident
  if (incident.kind === 'paused')
    return html`<span><strong>${what}</strong> is paused.</span><span class="soft">Since ${time(from)}</span>`
  const percent = Math.round(100 * incident.failedShare)
  const span =
    incident.until === null
      ? html`Since ${time(from)}`
      : html`${time(from)} to ${time(incident.until)}`
  return html`<span><strong>${what}</strong>: ${percent} % of calls failed.</span><span class="soft">${span}</span>`
}

/** Renders `27 Nov, 10:15 UTC`. */
function time(instant: string): Html {
  const text = new Date(instant).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  })
  return html`<time datetime="${instant}">${text} UTC</time>`
}
