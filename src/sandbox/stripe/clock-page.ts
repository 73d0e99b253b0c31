/**
 * The clock on the processor's page, and its API: `{to}`, `{advance_days}` or `{advance_months}`;
 * `to` may be `next`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Stripe } from 'stripe'
import { DAY_MS } from '#platform/clock.ts'
import { type Html, html } from '#platform/http/html.ts'
import { time as timeOf } from '../page.ts'
import { OPEN } from '../route.ts'
import type { ProcessorDeps } from './deps.ts'
import { Fault, refused } from './fault.ts'
import { toIso } from './hosted-page.ts'
import { get } from './objects.ts'
import { addInterval } from './periods.ts'
import { listSchedule } from './schedule.ts'
import type { TimeTravel } from './time-travel.ts'

const SHOWN_MAX = 8
export function clockRoutes(app: FastifyInstance, deps: ProcessorDeps, time: TimeTravel): void {
  app.get('/processor/clock', OPEN, () => describeClock(deps))

  /** Replies to JSON with JSON, and redirects forms to the page. */
  app.post('/processor/clock', OPEN, async (request, reply) => {
    const isForm = isFormPost(request)
    try {
      const happened = await time.moveTo(readDestination(deps, request.body))
      return isForm
        ? reply.redirect('/sandbox/processor', 303)
        : { ...describeClock(deps), happened }
    } catch (error) {
      if (isForm || !(error instanceof Fault)) throw error
      return reply.code(error.status).send({ error: error.body })
    }
  })
}

const isFormPost = ({ headers }: FastifyRequest) =>
  headers['content-type']?.includes('form-urlencoded') ?? false

function describeClock(deps: ProcessorDeps) {
  const next = listSchedule(deps)
    .slice(0, SHOWN_MAX)
    .map(({ at, what, customer }) => ({ at: toIso(at), what, customer }))
  return { now: deps.clock.now(), moved_ms: deps.clock.movedMs?.() ?? 0, next }
}

function readDestination(deps: ProcessorDeps, body: unknown): number {
  const { to, advance_days: days, advance_months: months } = (body ?? {}) as Record<string, unknown>
  const now = deps.clock.ms()
  if (to === 'next') return Math.max(now, (listSchedule(deps)[0]?.at ?? now / 1_000) * 1_000)
  const parameters = [to, days, months].filter((one) => one !== undefined && one !== '')
  const at =
    to !== undefined
      ? Date.parse(String(to))
      : days !== undefined
        ? now + Number(days) * DAY_MS
        : 1_000 *
            addInterval(Math.floor(now / 1_000), {
              interval: 'month',
              interval_count: Number(months),
            }) +
          (now % 1_000)
  if (parameters.length !== 1 || !Number.isFinite(at))
    throw refused(400, 'Send one of: to (a time, or `next`), advance_days, advance_months.')
  return at
}

export function clockCard(deps: ProcessorDeps, time: TimeTravel): Html {
  const moved = Math.round((deps.clock.movedMs?.() ?? 0) / DAY_MS)
  const next = listSchedule(deps).slice(0, SHOWN_MAX)
  const press = (name: string, value: string, words: string, kind = 'plain') =>
    html`<form method="post" action="/sandbox/processor/clock"><input type="hidden" name="${name}" value="${value}"><button class="${kind}">${words}</button></form>`
  return html`<section class="card" aria-labelledby="clock"><h2 id="clock">Clock</h2>
<p>Current time: ${timeOf(deps.clock.now())}${moved > 0 ? html`, ${moved} ${moved === 1 ? 'day' : 'days'} ahead of real time` : ''}.</p>
${
  time.canMove
    ? html`<div class="row">${next.length > 0 ? press('to', 'next', 'Next event', '') : ''}${press('advance_days', '1', 'Advance 1 day')}${press('advance_days', '7', 'Advance 1 week')}${press('advance_months', '1', 'Advance 1 month')}${press('advance_months', '12', 'Advance 1 year')}</div>
<p class="small quiet">This moves the clock of the whole service. It cannot move back. Users may have to sign in again.</p>`
    : html`<p class="small quiet">You can move the clock only while the sandbox’s processor is in use.</p>`
}
${
  next.length === 0
    ? html`<p class="quiet">No scheduled events: no subscription is running.</p>`
    : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Time</th><th scope="col">Customer</th><th scope="col">Event</th></tr></thead><tbody>
${next.map((due) => html`<tr><td class="small">${timeOf(toIso(due.at))}</td><td>${get<Stripe.Customer>(deps, due.customer)?.email ?? due.customer}</td><td>${due.what}</td></tr>`)}</tbody></table></div>`
}
</section>`
}
