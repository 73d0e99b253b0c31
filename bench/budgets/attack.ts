// One user with the maximum number of keys makes one call with each key at the same moment: plain
// calls, files, long prompts, 128 choices. The vendor bills as many tokens as each call allows. The
// last of several nodes is killed during its calls; the bench waits until its reservations are
// free, then spends the rest of the budget.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '#platform/db/open.ts'
import { migratedDatabase } from '../../src/testing/database.ts'
import { type BenchVendor, computeNanos, fetchPrices, type Price } from '../ledger/calls.ts'
import type { Play } from '../ledger/vendor.ts'
import { type RunningService, signUp, startService, withOwnPool } from '../lib/service.ts'

export type Attacked = {
  answered: number
  refused: number
  /** Refused because calls that did not end in time held the budget. */
  busy: number
  cut: number
  limitUsd: number
  crowdUsd: number
  usedUsd: number
  billedUsd: number
  seconds: number
  /** One sentence per fault; empty when everything is correct. */
  wrong: string[]
}

const MODEL = 'gpt-6-luna'
const LIMIT_USD = 2
const MAKING_AT_ONCE = 16
/** A killed node's reservations are free a minute after its last heartbeat. */
const DEATH_S = 150
const PAGES = 10
const PDF = Buffer.from(`%PDF-1.4\n${'<< /Type /Page /Parent 2 0 R >>\n'.repeat(PAGES)}`).toString(
  'base64',
)
const FILE = {
  type: 'file',
  file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
}

type Kind = { name: string; prompt: number; body(words: string): object }
const PLAIN: Kind = {
  name: 'a plain call',
  prompt: 50,
  body: (content) => ({ messages: [{ role: 'user', content }], max_tokens: 1_000 }),
}
const KINDS: Kind[] = [
  PLAIN,
  {
    name: 'a file',
    prompt: PAGES * 3_000,
    body: (text) => ({
      messages: [{ role: 'user', content: [{ type: 'text', text }, FILE] }],
      max_tokens: 1_000,
    }),
  },
  {
    name: 'a long prompt',
    prompt: 50_000,
    body: (words) => PLAIN.body(`${words} ${'x'.repeat(150_000)}`),
  },
  {
    name: '128 choices',
    prompt: 50,
    body: (words) => ({ ...PLAIN.body(words), max_tokens: 200, n: 128 }),
  },
]

type Told = 'answered' | 'refused' | 'busy' | 'cut'
type Call = { id: string; kind: Kind; told: Told | string }

export async function attack(
  vendor: BenchVendor,
  keyCount: number,
  nodeCount: number,
): Promise<Attacked> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-attack-'))
  const database = await migratedDatabase(folder, [])
  const nodes: RunningService[] = []
  try {
    for (let n = 0; n < nodeCount; n++)
      nodes.push(await startService(buildSettings(vendor, folder, database.url)))
    const [first] = nodes
    if (first === undefined) throw new Error('no node')
    const { token, userId } = await signUp(first.url)
    await makePro(first, database.url, userId)
    const keys = await makeKeys(first, token, keyCount)
    const prices = await fetchPrices(first.url, keys[0] ?? '')
    const price = prices.get(MODEL)
    if (price === undefined) throw new Error(`${MODEL} has no price`)
    return await spend({ nodes, keys, token, vendor, price })
  } finally {
    for (const node of nodes) await node.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Settings with one plan of `LIMIT_USD`, which allows as many choices as the API. */
function buildSettings(
  vendor: BenchVendor,
  folder: string,
  databaseUrl: string | null,
): Record<string, string> {
  const CATALOGUE = join(folder, 'catalogue.json')
  const plan = {
    tier: 'pro',
    name: 'Pro',
    prices: {},
    grants: ['ai', 'api_keys'],
    allowance_usd: LIMIT_USD,
  }
  writeFileSync(CATALOGUE, JSON.stringify({ plans: [plan] }))
  return {
    CATALOGUE,
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_AUTH: 'off',
    SIGNUP_PROOF: 'off',
    // Every node must accept the tokens of the others.
    BASE_URL: 'http://127.0.0.1:8000',
    ...(databaseUrl === null ? {} : { DATABASE_URL: withOwnPool(databaseUrl) }),
    ...vendor.env,
  }
}

type Attack = {
  nodes: RunningService[]
  keys: string[]
  token: string
  vendor: BenchVendor
  price: Price
}

async function spend({ nodes, keys, token, vendor, price }: Attack): Promise<Attacked> {
  const wrong: string[] = []
  const [first] = nodes as [RunningService]
  const victim = nodes.length > 1 ? nodes.at(-1) : undefined
  const calls = keys.map(
    (_, index): Call => ({ id: `attack-${index}`, kind: pickKind(index), told: '' }),
  )
  const begun = performance.now()
  let answers = 0
  await Promise.all(
    calls.map(async (call, index) => {
      await ask(nodes[index % nodes.length] ?? first, keys[index] ?? '', call)
      if (call.told === 'answered' && ++answers === KILL_AFTER) victim?.child.kill('SIGKILL')
    }),
  )
  const seconds = (performance.now() - begun) / 1_000
  await untilNothingIsHeld(first, token)
  const { used_usd: crowdUsd } = await allowance(first, token)

  // Usage only grows, so a call that was refused correctly is also refused now, when no other call
  // runs.
  const refusedKinds = new Set(
    calls.filter(({ told }) => told === 'refused').map(({ kind }) => kind),
  )
  const later: Call[] = []
  const askAlone = async (kind: Kind) => {
    const call: Call = { id: `later-${later.length}`, kind, told: '' }
    later.push(call)
    await ask(first, keys[later.length % keys.length] ?? '', call)
    return call.told
  }
  for (const kind of refusedKinds) {
    if ((await askAlone(kind)) !== 'refused')
      wrong.push(`${kind.name} was refused in the crowd, but answered alone`)
  }
  // The most expensive first, to exhaust the budget with few calls.
  for (const kind of KINDS.toReversed()) {
    let outcome = await askAlone(kind)
    for (let tries = 0; outcome === 'answered' && tries < 10_000; tries++)
      outcome = await askAlone(kind)
    if (outcome !== 'refused') wrong.push(`with an exhausted budget, ${kind.name}: ${outcome}`)
  }
  const { used_usd: usedUsd, reserved_usd } = await allowance(first, token)
  const book = await vendor.book()
  const billed = (call: Call) => {
    const { prompt = 0, completion = 0 } = book[call.id] ?? {}
    return computeNanos({ prompt, completion, cached: 0, written: 0 }, price) / 1e9
  }
  const sum = (some: Call[]) => some.reduce((total, call) => total + billed(call), 0)
  const isKnown = ({ told }: Call) => ['answered', 'refused', 'busy', 'cut'].includes(told)
  for (const { kind, told } of calls.filter((call) => !isKnown(call)))
    wrong.push(`${kind.name}: ${told}`)
  if (victim === undefined)
    for (const { kind } of calls.filter(({ told }) => told === 'cut'))
      wrong.push(`${kind.name}: cut`)
  const heard = sum([...calls, ...later].filter(({ told }) => told !== 'cut'))
  if (usedUsd > LIMIT_USD) wrong.push(`$${usedUsd} is used`)
  if (reserved_usd !== 0) wrong.push(`$${reserved_usd} is reserved`)
  // The cost of a prompt and one token of a plain answer, estimated at three bytes a token.
  if (usedUsd < LIMIT_USD - 0.000_02)
    wrong.push(`$${usedUsd} of $${LIMIT_USD} is used, but further calls are refused`)
  if (heard > usedUsd + 1e-9) wrong.push(`$${heard} was billed, but only $${usedUsd} is recorded`)
  if (victim === undefined && Math.abs(heard - usedUsd) > 1e-9)
    wrong.push(`$${heard} was billed, but $${usedUsd} is used`)
  const count = (which: Told) => calls.filter(({ told }) => told === which).length
  return {
    answered: count('answered'),
    refused: count('refused'),
    busy: count('busy'),
    cut: count('cut'),
    limitUsd: LIMIT_USD,
    crowdUsd,
    usedUsd,
    billedUsd: sum([...calls, ...later]),
    seconds,
    wrong,
  }
}

const KILL_AFTER = 100
const pickKind = (index: number): Kind => KINDS[index % KINDS.length] ?? PLAIN

async function ask({ url }: RunningService, key: string, call: Call): Promise<void> {
  const { kind, id } = call
  const play: Play = {
    id,
    kind: 'well',
    prompt: kind.prompt,
    completion: 1e9,
    cached: 0,
    written: 0,
    waitMs: 30,
    toTheLimit: true,
  }
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, ...kind.body(`PLAY ${JSON.stringify(play)}`) }),
    })
    const text = await reply.text()
    call.told = `${reply.status} ${text.slice(0, 200)}`
    if (reply.status === 200) call.told = 'answered'
    else if (text.includes('Monthly budget exhausted')) call.told = 'refused'
    else if (text.includes('Other calls hold what is left')) call.told = 'busy'
  } catch {
    call.told = 'cut'
  }
}

async function untilNothingIsHeld(node: RunningService, token: string): Promise<void> {
  for (let waited = 0; waited < DEATH_S; waited++) {
    if ((await allowance(node, token)).reserved_usd === 0) return
    await sleep(1_000)
  }
}

async function allowance(
  { url }: RunningService,
  token: string,
): Promise<{ used_usd: number; reserved_usd: number }> {
  const reply = await fetch(`${url}/api/usage/allowance`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!reply.ok) throw new Error(`the allowance: ${reply.status}`)
  return (await reply.json()) as { used_usd: number; reserved_usd: number }
}

async function makePro(
  { dataDir }: RunningService,
  databaseUrl: string | null,
  userId: string,
): Promise<void> {
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  await db
    .updateTable('users')
    .set({ subscription_tier: 'pro', subscription_status: 'active' })
    .where('id', '=', userId)
    .execute()
    .finally(close)
  // The service caches the session's user for a second.
  await sleep(1_100)
}

async function makeKeys({ url }: RunningService, token: string, count: number): Promise<string[]> {
  const keys: string[] = []
  let left = count
  const maker = async () => {
    while (left-- > 0) {
      const reply = await fetch(`${url}/api/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'attack' }),
      })
      if (reply.status !== 201)
        throw new Error(`making a key: ${reply.status} ${await reply.text()}`)
      keys.push(((await reply.json()) as { key: string }).key)
    }
  }
  await Promise.all(Array.from({ length: MAKING_AT_ONCE }, maker))
  return keys
}
