// The processor's events at the address that takes them, signed, each with an id of its own, against bare durable inserts of the same
// bytes into SQLite on the same disk, in turn. Wanted: 0.4 of the bare inserts for events of nobody, which are stored and handled.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Stripe } from 'stripe'
import { call } from '../src/cli/tour/client.ts'
import { pay } from '../src/cli/tour/hosted-page.ts'
import { type RunningService, signUp, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const says = 'events of the payment processor, against bare durable inserts of the same bytes'

const SECRET = 'whsec_bench'
const ROUNDS = 3
const EVENTS = 200
const CONNECTIONS = 32
const CUSTOMERS = 8
const WANTED = 0.4

export async function run(): Promise<void> {
  const service = await startService({ STRIPE_WEBHOOK_SECRET: SECRET, RATE_LIMIT_GENERAL: 'off' })
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bare-'))
  try {
    const customers = await subscribers(service)
    const bare = bareInserts(folder)
    const rounds: { bare: number; nobody: number; ours: number; again: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const strangers = eventsOf(() => `cus_nobody_${round}`)
      const known = eventsOf((index) => customers[index % customers.length] ?? '')
      const measured = {
        bare: bare(strangers),
        nobody: await send(service, strangers),
        ours: await send(service, known),
        again: await send(service, known),
      }
      // The first is for warming up.
      if (round > 0) rounds.push(measured)
    }
    const median = (of: (round: (typeof rounds)[number]) => number) =>
      rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN
    const row = (name: string, of: (round: (typeof rounds)[number]) => number) => [
      name,
      Math.round(median(of)).toString(),
      median((round) => of(round) / round.bare).toFixed(2),
    ]
    printTable(
      `${EVENTS} events a round, ${CONNECTIONS} at once, medians of ${ROUNDS} rounds in turn`,
      ['', 'a second', 'of bare'],
      [
        row('bare durable inserts', (round) => round.bare),
        row('events of nobody here', (round) => round.nobody),
        row(`events of ${CUSTOMERS} customers`, (round) => round.ours),
        row('the same once more', (round) => round.again),
      ],
    )
    const ratio = median((round) => round.nobody / round.bare)
    console.log(`\n  Ratio: ${ratio.toFixed(2)} (wanted: ${WANTED}) ${ratio >= WANTED ? 'holds' : 'BROKEN'}`)
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Users with a subscription. Returns their customers at the processor. */
async function subscribers(service: RunningService): Promise<string[]> {
  const customers: string[] = []
  const { body } = await call('GET', `${service.url}/api/billing/plans`)
  const plan = (body.plans as { tier: string; price_monthly?: string }[]).find(({ tier }) => tier === 'pro')
  for (let index = 0; index < CUSTOMERS; index++) {
    const { token: bearer } = await signUp(service.url, `webhooks-${index}@example.com`)
    const address = `${service.url}/api/billing/create-checkout-session?price_id=${plan?.price_monthly}`
    await pay(String((await call('POST', address, { bearer })).body.url))
    const subscription = await call('GET', `${service.url}/api/billing/subscription`, { bearer })
    customers.push(String(subscription.body.processor_customer_id))
  }
  return customers
}

type Signed = { id: string; body: string; signature: string }

function eventsOf(customer: (index: number) => string): Signed[] {
  return Array.from({ length: EVENTS }, (_, index) => {
    const id = `evt_${crypto.randomUUID().replaceAll('-', '')}`
    const created = Math.floor(Date.now() / 1000)
    const object = {
      id: `cus_${index}`,
      object: 'subscription',
      customer: customer(index),
      status: 'active',
      metadata: {},
    }
    const type = 'customer.subscription.updated'
    const body = JSON.stringify({ id, object: 'event', created, type, data: { object } })
    return { id, body, signature: Stripe.webhooks.generateTestHeaderString({ payload: body, secret: SECRET }) }
  })
}

/** Each in a commit of its own, as durable as the service's. */
function bareInserts(folder: string): (events: readonly Signed[]) => number {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full; create table inbox (id text primary key, body text)')
  const insert = db.prepare('insert into inbox (id, body) values (?, ?)')
  return (events) => {
    const begun = performance.now()
    for (const { id, body } of events) insert.run(id, body)
    return (events.length * 1_000) / (performance.now() - begun)
  }
}

/** Events a second that were answered with 200. */
async function send({ port }: RunningService, events: readonly Signed[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const waiting = [...events]
  const begun = performance.now()
  const one = async () => {
    for (let event = waiting.pop(); event; event = waiting.pop()) await post(port, agent, event)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
  agent.destroy()
  return (events.length * 1_000) / (performance.now() - begun)
}

function post(port: number, agent: Agent, { body, signature }: Signed): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
    const sent = request({ host: '127.0.0.1', port, path: '/api/billing/webhook', method: 'POST', headers, agent })
    sent.on('response', (reply) => {
      reply.resume().on('end', () => (reply.statusCode === 200 ? resolve() : reject(new Error(`${reply.statusCode}`))))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
