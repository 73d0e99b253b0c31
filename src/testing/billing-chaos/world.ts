// A business with random failures: users subscribe, buy, pause, cancel, dispute and are refunded in
// random order. The processor's events are lost, doubled, delayed and reordered, and the processor
// itself fails now and then.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Stripe } from 'stripe'
import { BILLING_EVENT_TYPES } from '#billing/billing-events.ts'
import { MONEY_EVENT_TYPES } from '#billing/money/money-events.ts'
import { RECONCILE_JOB } from '#billing/reconciliation.ts'
import { HOUR_MS, MINUTE_MS } from '#platform/clock.ts'
import { PAYMENT_EVENT_TYPES } from '#storefront/payments/payment-events.ts'
import type { TestApp } from '../app.ts'
import { intercept, loseEvents } from '../shop.ts'
import { createRandom, type Random } from './random.ts'
import { createPerson, takeStep } from './steps.ts'

export type ChaosOptions = {
  seed: number
  histories: number
  steps: number
  /** Histories under way at once. */
  atOnce?: number
  /** Users of this run. Another run with the same data and name continues with them. */
  name?: string
}

/** The allowance of the free plan in a UTC month. */
export const FREE_USD = 0.1

/** Settings under which one of the plans has a trial. */
export function chaosCatalogue(t: { after: (end: () => void) => void }): { CATALOGUE: string } {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const CATALOGUE = join(folder, 'catalogue.json')
  const plans = [
    { tier: 'free', name: 'Free', allowance_usd: FREE_USD, grants: ['home'] },
    {
      tier: 'pro',
      name: 'Pro',
      trial_days: 14,
      trial_allowance_usd: 2,
      allowance_usd: 20,
      grants: ['ai'],
    },
    { tier: 'enterprise', name: 'Enterprise', allowance_usd: 80, grants: ['ai'] },
  ]
  writeFileSync(CATALOGUE, JSON.stringify({ plans }))
  return { CATALOGUE }
}

/** The share of the events; each world has a different share. */
const LOST = { least: 0.1, most: 0.3 }
/** Of those lost: the processor's list does not have them, either. */
const FORGOTTEN = 0.2
const DOUBLED = 0.1
const DELAYED = 0.2
const FAULTS = 0.02

type StoredEvent = { id: string; type: string; created: number; data: { object: object } }

export type Chaos = { events: number; lost: number; faults: number }

/** Plays all histories. Events on their way at the end are never delivered. */
export async function playChaos(app: TestApp, options: ChaosOptions): Promise<Chaos> {
  const { seed, histories, steps, atOnce = 8, name = `chaos-${seed}` } = options
  loseEvents(app)
  holdDebits(app)
  separateCards(app)
  const counts: Chaos = { events: 0, lost: 0, faults: 0 }
  const stopFaults = makeFaults(app, createRandom(seed ^ 0xfa17), counts)
  const sandbox = new DatabaseSync(join(app.dataDir, 'sandbox.db'), { timeout: 5_000 })
  try {
    const courier = createCourier(app, sandbox, createRandom(seed), counts)
    const waiting = Array.from({ length: histories }, (_, index) => index)
    const play = async () => {
      for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
        const random = createRandom(seed * 1_000 + index)
        const person = await createPerson(app, `${name}-${index}`)
        for (let step = 0; step < steps; step++) {
          await takeStep(app, sandbox, person, random)
          await courier.deliver()
          if (person.isGone) break
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, play))
  } finally {
    stopFaults()
    sandbox.close()
  }
  return counts
}

/** Delivers the processor's events with losses, duplicates, delays and changes of order. */
function createCourier(app: TestApp, sandbox: DatabaseSync, random: Random, told: Chaos) {
  const read = sandbox.prepare(
    `select seq, body from stripe_objects where object = 'event' and seq > ? order by seq`,
  )
  const forget = sandbox.prepare('delete from stripe_objects where id = ?')
  let reached = Number(
    sandbox.prepare('select coalesce(max(seq), 0) as seq from stripe_objects').get()?.seq,
  )
  let delayed: StoredEvent[] = []
  const lost = LOST.least + random.next() * (LOST.most - LOST.least)

  return {
    async deliver() {
      const fresh = read.all(reached) as { seq: number; body: string }[]
      reached = fresh.at(-1)?.seq ?? reached
      const due: StoredEvent[] = delayed.splice(0, delayed.length)
      for (const { body } of fresh) {
        const event = JSON.parse(body) as StoredEvent
        told.events++
        if (random.chance(lost)) {
          told.lost++
          if (random.chance(FORGOTTEN)) forget.run(event.id)
        } else if (random.chance(DELAYED)) delayed.push(event)
        else due.push(event, ...(random.chance(DOUBLED) ? [event] : []))
      }
      // Some wait once more, so that later ones overtake them.
      delayed = [...delayed, ...due.filter(() => random.chance(DELAYED / 4))]
      const now = due.filter((event) => !delayed.includes(event))
      await Promise.all(random.shuffle(now).map(send))
    },
  }

  async function send(event: StoredEvent) {
    const { webhookSecret, storefrontWebhookSecret } = app.config.processor
    const hears = (types: readonly string[]) => types.includes(event.type)
    const body = JSON.stringify(event)
    const signed = (secret: string | null) => ({
      body,
      headers: { 'stripe-signature': signPayload(app, body, secret) },
    })
    if (hears(BILLING_EVENT_TYPES))
      await app.request('POST', '/api/billing/webhook', signed(webhookSecret))
    if (hears(PAYMENT_EVENT_TYPES) || hears(MONEY_EVENT_TYPES)) {
      await app.store('POST', '/api/processor/webhook', signed(storefrontWebhookSecret))
    }
  }
}

function signPayload(app: TestApp, payload: string, secret: string | null): string {
  const timestamp = Math.floor(app.clock.ms() / 1000)
  return Stripe.webhooks.generateTestHeaderString({ payload, secret: secret ?? '', timestamp })
}

/** Debits settle when the history requires it. */
export function holdDebits({ dataDir }: TestApp): void {
  const db = new DatabaseSync(join(dataDir, 'sandbox.db'))
  db.exec(
    `create trigger if not exists held before insert on stripe_settlements begin select raise(ignore); end`,
  )
  db.close()
}

/**
 * Test cards are few, and each card has one trial: here people have separate cards, except every
 * fourth.
 */
export function separateCards({ dataDir }: TestApp): void {
  const db = new DatabaseSync(join(dataDir, 'sandbox.db'))
  const owner = `json_extract(new.body, '$.billing_details.email')`
  db.exec(`create trigger if not exists own_cards after insert on stripe_objects
    when new.object = 'payment_method' and json_extract(new.body, '$.card') is not null and length(${owner}) % 4 > 0
    begin
      update stripe_objects set body = json_set(body, '$.card.fingerprint', 'own-' || ${owner}) where id = new.id;
    end`)
  db.close()
}

/** The processor fails at some calls. */
function makeFaults(app: TestApp, random: Random, told: Chaos): () => void {
  let isOn = true
  intercept(app, (request, response) => {
    if (!isOn || !request.url?.startsWith('/sandbox/stripe/') || !random.chance(FAULTS))
      return false
    told.faults++
    response.writeHead(400, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
    response.end(JSON.stringify({ error: { type: 'api_error', message: 'Out of order.' } }))
    return true
  })
  return () => {
    isOn = false
  }
}

/** Long enough for every delayed step, and for every account to become stale. */
const AFTERWARDS_MS = 25 * HOUR_MS + MINUTE_MS

/**
 * The processor is well again, and a day has gone by. Work ordered by reconciliation (the older of
 * two subscriptions cancelled) follows.
 */
export async function reconcileAll(app: TestApp) {
  await app.settle()
  app.clock.advance(AFTERWARDS_MS)
  const done = await app.service.billing.sync()
  // Same as each hour: restarts a reconciliation that was given up.
  await app.platform.jobs.enqueue(app.platform.db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
  await app.settle()
  await app.service.billing.sync()
  // The last synchronization may have enqueued a cancellation.
  await app.settle()
  return done
}
