// Many calls at once, over all three APIs and several prices, with one key whose budget in dollars
// covers about half of them.
import {
  APIS,
  type Api,
  type BenchVendor,
  computeNanos,
  fetchPrices,
  type Price,
} from '../ledger/calls.ts'
import type { Play } from '../ledger/vendor.ts'
import { payingKey, type RunningService } from '../lib/service.ts'

export type BudgetResult = {
  calls: number
  answered: number
  refused: number
  shortened: number
  limitUsd: number
  usedUsd: number
  billedUsd: number
  /** One sentence per fault; empty when everything is correct. */
  wrong: string[]
}

type Call = {
  api: Api
  model: string
  play: Play
  stream: boolean
  status: number
  isExhausted: boolean
}

const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
/** The requested length; shorter where the budget ends. */
const ANSWER_TOKENS = 500
const PROMPT_TOKENS = 20

export async function spendAtOnce(
  service: RunningService,
  vendor: BenchVendor,
  count: number,
): Promise<BudgetResult> {
  const { token, key: unlimited } = await payingKey(service)
  const prices = await fetchPrices(service.url, unlimited)
  const calls = Array.from({ length: count }, (_, index) => buildCall(index))
  const all = calls.reduce(
    (sum, { play, model }) => sum + computeNanos(play, findPrice(prices, model)),
    0,
  )
  const limitUsd = Math.round(all / 2) / 1e9
  const key = await keyWithBudget(service, token, limitUsd)
  await Promise.all(calls.map((call) => ask(service, key, call)))

  const wrong: string[] = []
  // Usage only grows, so a call that was refused correctly is also refused now, when no other call
  // runs.
  const refused = [
    ...new Map(
      calls.filter(({ isExhausted }) => isExhausted).map((call) => [formatCall(call), call]),
    ),
  ]
  for (const [name, call] of refused) {
    const again = { ...call, play: { ...call.play, id: `again-${call.play.id}` } }
    await ask(service, key, again)
    if (!again.isExhausted)
      wrong.push(`${name} was refused in the crowd, but answered ${again.status} alone`)
  }
  for (const { status, isExhausted, ...call } of calls) {
    if (status !== 200 && !isExhausted) wrong.push(`${formatCall(call)} ${call.play.id}: ${status}`)
  }
  const { usedUsd, reservedUsd } = await allowance(service, key)
  const book = await vendor.book()
  const billed = (call: Call) => {
    const { asked = 0, prompt = 0, completion = 0 } = book[call.play.id] ?? {}
    if (asked !== (call.status === 200 ? 1 : 0))
      wrong.push(`${formatCall(call)} ${call.status}: the vendor was called ${asked} times`)
    return computeNanos({ ...call.play, prompt, completion }, findPrice(prices, call.model))
  }
  const billedUsd = calls.reduce((sum, call) => sum + billed(call), 0) / 1e9
  if (usedUsd > limitUsd) wrong.push(`$${usedUsd} of $${limitUsd} is used`)
  if (usedUsd !== billedUsd) wrong.push(`$${usedUsd} is used, but $${billedUsd} was billed`)
  if (reservedUsd !== 0) wrong.push(`$${reservedUsd} is reserved`)
  const shortened = calls.filter(
    ({ play }) => (book[play.id]?.completion ?? ANSWER_TOKENS) < ANSWER_TOKENS,
  ).length
  const answered = calls.filter(({ status }) => status === 200).length
  return {
    calls: count,
    answered,
    refused: count - answered,
    shortened,
    limitUsd,
    usedUsd,
    billedUsd,
    wrong,
  }
}

function buildCall(index: number): Call {
  const api = APIS[index % APIS.length] as Api
  const model = MODELS[Math.floor(index / APIS.length) % MODELS.length] as string
  const play: Play = {
    id: `spend-${index}`,
    kind: 'well',
    prompt: PROMPT_TOKENS,
    completion: ANSWER_TOKENS,
    cached: 0,
    written: 0,
    waitMs: index % 50,
    toTheLimit: true,
  }
  return { api, model, play, stream: index % 2 === 0, status: 0, isExhausted: false }
}

const formatCall = ({ api, model }: Pick<Call, 'api' | 'model'>) => `${api.path} ${model}`

function findPrice(prices: Map<string, Price>, model: string): Price {
  const price = prices.get(model)
  if (price === undefined) throw new Error(`${model} has no price`)
  return price
}

async function ask({ url }: RunningService, key: string, call: Call): Promise<void> {
  const { api, model, stream, play } = call
  const reply = await fetch(url + api.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(api.body(model, `PLAY ${JSON.stringify(play)}`, stream)),
  })
  const text = await reply.text()
  call.status = reply.ok && stream && !text.includes(api.endMark) ? 0 : reply.status
  call.isExhausted = reply.status === 429 && text.includes('budget of this key exhausted')
}

async function keyWithBudget(
  { url }: RunningService,
  token: string,
  limitUsd: number,
): Promise<string> {
  const reply = await fetch(`${url}/api/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'budget', budget: { limit_usd: limitUsd, period: 'month' } }),
  })
  if (reply.status !== 201)
    throw new Error(`creating a key failed: ${reply.status} ${await reply.text()}`)
  return ((await reply.json()) as { key: string }).key
}

async function allowance(
  { url }: RunningService,
  key: string,
): Promise<{ usedUsd: number; reservedUsd: number }> {
  const reply = await fetch(`${url}/api/usage/allowance`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { keys, reserved_usd } = (await reply.json()) as {
    keys: { used_usd: number }[]
    reserved_usd: number
  }
  return { usedUsd: keys[0]?.used_usd ?? Number.NaN, reservedUsd: reserved_usd }
}
