/** Trouble on the events' way, on the processor's page, and its API: `{lost_percent, delay_seconds, doubled, reversed}`, and what is outstanding. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Html, html } from '#platform/http/html.ts'
import { OPEN } from '../route.ts'
import { type Courier, outstanding, sendOutstanding } from './deliveries.ts'
import type { ProcessorDeps } from './deps.ts'
import { Fault } from './fault.ts'
import { badge } from './hosted-page.ts'
import { changeSettings, settingsOf, type Trouble } from './settings.ts'

const SHOWN_MAX = 10
const DELAY_MAX_S = 3_600
const WEBHOOK_PATIENCE_MS = 3_000

export function troubleRoutes(app: FastifyInstance, deps: ProcessorDeps, courier: Courier): void {
  app.get('/processor/deliveries', OPEN, () => deliveriesNow(deps))

  /** JSON changes what it names and is answered with JSON; a form, which a person has sent, says all and gets the page. */
  app.post('/processor/deliveries', OPEN, (request, reply) => {
    const isForm = isOfPage(request)
    const unticked = isForm ? { doubled: false, reversed: false } : {}
    try {
      changeSettings(deps, troubleIn({ ...unticked, ...((request.body ?? {}) as object) }))
    } catch (error) {
      if (isForm || !(error instanceof Fault)) throw error
      return reply.code(error.status).send({ error: error.body })
    }
    deps.wake()
    return isForm ? reply.redirect('/sandbox/processor#trouble', 303) : deliveriesNow(deps)
  })

  app.post('/processor/deliveries/send-again', OPEN, async (request, reply) => {
    sendOutstanding(deps)
    await courier.settled(WEBHOOK_PATIENCE_MS)
    return isOfPage(request)
      ? reply.redirect('/sandbox/processor#trouble', 303)
      : deliveriesNow(deps)
  })
}

const isOfPage = ({ headers }: FastifyRequest) =>
  headers['content-type']?.includes('form-urlencoded') ?? false

function deliveriesNow(deps: ProcessorDeps) {
  const { lostPercent, delaySeconds, isDoubled, isReversed } = settingsOf(deps)
  return {
    lost_percent: lostPercent,
    delay_seconds: delaySeconds,
    doubled: isDoubled,
    reversed: isReversed,
    outstanding: outstanding(deps).map(
      ({ event_id: event, type, endpoint, state, attempts, note }) => ({
        event,
        type,
        endpoint,
        state,
        attempts,
        note,
      }),
    ),
  }
}

/** @throws Fault on what is no such thing. */
function troubleIn(given: Record<string, unknown>): Partial<Trouble> {
  const wanted: Partial<Trouble> = {}
  for (const [name, value] of Object.entries(given)) {
    if (name === 'lost_percent') wanted.lostPercent = numberIn(name, value, 100)
    else if (name === 'delay_seconds') wanted.delaySeconds = numberIn(name, value, DELAY_MAX_S)
    else if (name === 'doubled') wanted.isDoubled = switchIn(name, value)
    else if (name === 'reversed') wanted.isReversed = switchIn(name, value)
    else throw refused(`There is no ${name}: say lost_percent, delay_seconds, doubled or reversed.`)
  }
  return wanted
}

function numberIn(name: string, value: unknown, max: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(number >= 0 && number <= max))
    throw refused(`${name} is a number from 0 to ${max}.`)
  return number
}

function switchIn(name: string, value: unknown): boolean {
  if (value === 'on' || value === true) return true
  if (value === false) return false
  throw refused(`${name} is true or false.`)
}

const refused = (message: string) => new Fault(400, { type: 'invalid_request_error', message })

export function troubleCard(deps: ProcessorDeps): Html {
  const { lostPercent, delaySeconds, isDoubled, isReversed } = settingsOf(deps)
  const waiting = outstanding(deps)
  const tick = (name: string, words: string, isOn: boolean) =>
    html`<label class="choice"><input type="checkbox" name="${name}"${isOn ? html` checked` : ''}><span class="grow">${words}</span></label>`
  return html`<section class="card" aria-labelledby="trouble"><h2 id="trouble">Trouble on the way</h2>
<p class="small quiet">What a network does to events, on purpose: the service is to end in the same state all the same, by what it reads itself.</p>
<form method="post" action="/sandbox/processor/deliveries">
<div class="grid">
<div class="field"><label for="lost">Lost, in percent</label><input id="lost" name="lost_percent" type="number" min="0" max="100" value="${lostPercent}"></div>
<div class="field"><label for="delay">Delayed, in seconds</label><input id="delay" name="delay_seconds" type="number" min="0" max="${DELAY_MAX_S}" value="${delaySeconds}"></div>
</div>
<fieldset><legend>Each event is</legend>${tick('doubled', 'sent twice', isDoubled)}${tick('reversed', 'sent after those that came later', isReversed)}</fieldset>
<button class="plain">Keep</button></form>
<h3>Outstanding</h3>
${
  waiting.length === 0
    ? html`<p class="quiet">Nothing: every event has arrived.</p>`
    : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Type</th><th scope="col">To</th><th scope="col">State</th><th scope="col">Tries</th><th scope="col">Answer</th></tr></thead><tbody>
${waiting.slice(0, SHOWN_MAX).map((one) => html`<tr><td><a class="mono" href="/sandbox/processor/events/${one.event_id}">${one.type}</a></td><td>${one.endpoint}</td><td>${badge(one.state)}</td><td>${one.attempts}</td><td class="small">${one.note}</td></tr>`)}</tbody></table></div>
${waiting.length > SHOWN_MAX ? html`<p class="small quiet">And ${waiting.length - SHOWN_MAX} more.</p>` : ''}
<form method="post" action="/sandbox/processor/deliveries/send-again"><button>Send all of it again</button></form>`
}</section>`
}
