// Compares the webhook endpoint, with signed events that each have a different id, with bare
// durable inserts of the same bytes into the same database, in turn. SQLite inserts run one at a
// time, as it requires; PostgreSQL inserts use as many connections as there are concurrent events.
// Targets for events without a known customer, which are stored and handled: 0.4 of the bare
// inserts on SQLite, 0.2 on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { Stripe } from 'stripe'
import { call } from '../src/cli/tour/client.ts'
import { pay } from '../src/cli/tour/hosted-page.ts'
import { migratedDatabase } from '../src/testing/database.ts'
import { type RunningService, signUp, startService, withOwnPool } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'webhook events, compared with bare durable inserts of the same bytes; PostgreSQL at TEST_DATABASE_URL'

const SECRET = 'whsec_bench'
const ROUNDS = 5
const EVENTS = 400
/** Handling such an event reads the processor, which runs in the same process here. */
const OURS = 64
const CONNECTIONS = 32
const CUSTOMERS = 8
const TARGET = { SQLite: 0.4, PostgreSQL: 0.2 }

type Measured = { aSecond: number; cpuMs: number }
type Round = Record<'bare' | 'nobody' | 'ours' | 'again', Measured>

export async function run(): Promise<void> {
  const server = process.env.TEST_DATABASE_URL ?? null
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bare-'))
  const database = await migratedDatabase(folder, [])
  const service = await startService({
    STRIPE_WEBHOOK_SECRET: SECRET,
    RATE_LIMIT_GENERAL: 'off',
    ...(database.url === null ? {} : { DATABASE_URL: withOwnPool(database.url) }),
  })
  const bare = server === null ? bareSqlite(folder) : await barePostgres(server)
  try {
    const customers = await subscribers(service)
    const rounds: Round[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const strangers = signEvents(EVENTS, () => `cus_nobody_${round}`)
      const known = signEvents(OURS, (index) => customers[index % customers.length] ?? '')
      const measured = {
        bare: await bare.insert(strangers),
        nobody: await send(service, strangers),
        ours: await send(service, known),
        again: await send(service, strangers),
      }
      // The first round warms up.
      if (round > 0) rounds.push(measured)
    }
    tell(server === null ? 'SQLite' : 'PostgreSQL', rounds)
  } finally {
    await service.stop()
    await bare.end()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function tell(engine: keyof typeof TARGET, rounds: readonly Round[]): void {
  const median = (of: (round: Round) => number) =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN
  const row = (name: string, of: (round: Round) => Measured) => [
    name,
    Math.round(median((round) => of(round).aSecond)).toString(),
    median((round) => of(round).aSecond / round.bare.aSecond).toFixed(2),
    median((round) => of(round).cpuMs).toFixed(2),
  ]
  printTable(
    `${engine}: ${EVENTS} events per round, ${CONNECTIONS} at once, medians of ${ROUNDS} alternating rounds`,
    ['', 'events/s', 'ratio to bare', 'CPU ms per event'],
    [
      row('bare durable inserts', (round) => round.bare),
      row('events without a known customer', (round) => round.nobody),
      row(`events of ${CUSTOMERS} customers`, (round) => round.ours),
      row('the same events again', (round) => round.again),
    ],
  )
  const ratio = median((round) => round.nobody.aSecond / round.bare.aSecond)
  const minimum = TARGET[engine]
  console.log(
    `\n  Ratio: ${ratio.toFixed(2)} (target: ${minimum}) ${ratio >= minimum ? 'ok' : 'FAILED'}`,
  )
  process.exitCode = ratio >= minimum ? 0 : 1
}

/** `cpuMs`: CPU milliseconds per event, over all threads of the process. */
async function measured(
  { length: count }: readonly unknown[],
  cpuMs: () => number,
  work: () => Promise<void>,
): Promise<Measured> {
  const [begun, cpuBegun] = [performance.now(), cpuMs()]
  await work()
  return {
    aSecond: (count * 1_000) / (performance.now() - begun),
    cpuMs: (cpuMs() - cpuBegun) / count,
  }
}

const ownCpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

async function allAtOnce<T>(
  items: readonly T[],
  one: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items]
  const next = async () => {
    for (let item = waiting.pop(); item; item = waiting.pop()) await one(item)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, next))
}

/** Creates users with a subscription. Returns their customer ids at the processor. */
async function subscribers(service: RunningService): Promise<string[]> {
  const customers: string[] = []
  const { body } = await call('GET', `${service.url}/api/billing/plans`)
  const plan = (body.plans as { tier: string; price_monthly?: string }[]).find(
    ({ tier }) => tier === 'pro',
  )
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

function signEvents(count: number, customer: (index: number) => string): Signed[] {
  return Array.from({ length: count }, (_, index) => {
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
    return {
      id,
      body,
      signature: Stripe.webhooks.generateTestHeaderString({ payload: body, secret: SECRET }),
    }
  })
}

type Bare = { insert(events: readonly Signed[]): Promise<Measured>; end(): Promise<void> }

/** Inserts each event in a separate commit, as durable as the service's. */
function bareSqlite(folder: string): Bare {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table inbox (id text primary key, body text)',
  )
  const insert = db.prepare('insert into inbox (id, body) values (?, ?)')
  return {
    insert: (events) =>
      measured(events, ownCpuMs, async () => {
        for (const { id, body } of events) insert.run(id, body)
      }),
    end: async () => db.close(),
  }
}

async function barePostgres(url: string): Promise<Bare> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  await pool.query(
    'drop table if exists bare_inbox; create table bare_inbox (id text primary key, body text)',
  )
  const text = 'insert into bare_inbox (id, body) values ($1, $2)'
  return {
    insert: (events) =>
      measured(events, ownCpuMs, () =>
        allAtOnce(events, ({ id, body }) => pool.query({ name: 'bare', text, values: [id, body] })),
      ),
    async end() {
      await pool.query('drop table bare_inbox')
      await pool.end()
    },
  }
}

/** Sends events and returns the rate of those answered with 200. */
async function send({ port, cpuMs }: RunningService, events: readonly Signed[]): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const result = await measured(events, cpuMs, () =>
    allAtOnce(events, (event) => post(port, agent, event)),
  )
  agent.destroy()
  return result
}

function post(port: number, agent: Agent, { body, signature }: Signed): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/api/billing/webhook',
      method: 'POST',
      headers,
      agent,
    })
    sent.on('response', (reply) => {
      reply
        .resume()
        .on('end', () =>
          reply.statusCode === 200 ? resolve() : reject(new Error(`${reply.statusCode}`)),
        )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
