// Whether the ledger is exact: thousands of mixed calls at every address, and then each call's row against what the vendor was
// told to bill, in tokens and in thousand-millionths of a dollar. A limit, not a speed: every difference is one too many.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Kind, Play } from './ledger/vendor.ts'
import { freePort, payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const says = 'every call of thousands, at every address, against the ledger: tokens and nanodollars'

const AT_ONCE = 40
const MODELS = ['gpt-6.1-terra', 'gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
const KINDS: Kind[] = [
  ...Array<Kind>(8).fill('well'),
  ...(['late', 'refused', 'cut', 'no-end', 'error-event', 'garbage', 'slow'] as const),
]
/** Whole answers are never cut, and nobody leaves them here. */
const WHOLE_KINDS: Kind[] = ['well', 'well', 'well', 'late', 'refused']

type Api = { path: string; body(model: string, prompt: string, stream: boolean): object }
const APIS: Api[] = [
  {
    path: '/v1/chat/completions',
    body: (model, content, stream) => ({ model, stream, max_tokens: 500, messages: [{ role: 'user', content }] }),
  },
  { path: '/v1/responses', body: (model, input, stream) => ({ model, stream, max_output_tokens: 500, input }) },
  {
    path: '/v1/messages',
    body: (model, content, stream) => ({ model, stream, max_tokens: 500, messages: [{ role: 'user', content }] }),
  },
]

type Asked = { api: Api; model: string; stream: boolean; play: Play; requestId: string | null; status: number }

type Row = {
  request_id: string
  outcome: string
  model: string
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nanos: number
}

/** `npm run bench -- ledger [CALLS]` */
export async function run([count = '5000']: string[]): Promise<void> {
  const vendorPort = await freePort()
  const vendor = spawn(process.execPath, [join(import.meta.dirname, 'ledger/vendor.ts'), String(vendorPort)])
  await new Promise((resolve) => vendor.stdout.once('data', resolve))
  const origin = `http://127.0.0.1:${vendorPort}`
  const service = await startService({
    ...{ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AI: 'off' },
    ...{ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: 'sk-bench' },
    ...{ ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: 'sk-bench', GEMINI_BASE_URL: origin, GEMINI_API_KEY: 'bench' },
  })
  try {
    const { key } = await payingKey(service)
    const prices = await pricesOf(service.url, key)
    const calls = callsOf(Number(count))
    const waiting = calls.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const call of waiting) await ask(service.url, key, call)
      }),
    )
    // What was left is settled when the vendor's socket has closed.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const db = new DatabaseSync(join(service.dataDir, 'latchkey.db'), { readOnly: true, timeout: 5_000 })
    const rows = db.prepare('select * from usage_records').all() as unknown as Row[]
    db.close()
    compare(calls, rows, prices)
  } finally {
    await service.stop()
    vendor.kill()
  }
}

type Price = { input: number; output: number; cached: number; written: number }

/** As the service tells them; what is written costs a quarter more. */
async function pricesOf(url: string, key: string): Promise<Map<string, Price>> {
  const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await reply.json()) as { data: { id: string; price: Omit<Price, 'written'> | null }[] }
  return new Map(
    data.flatMap(({ id, price }) => (price === null ? [] : [[id, { ...price, written: price.input * 1.25 }] as const])),
  )
}

/** The same calls in each run. */
function callsOf(count: number): Asked[] {
  let state = 1
  // https://en.wikipedia.org/wiki/Lehmer_random_number_generator
  const below = (most: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % most
  }
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)] as T
  return Array.from({ length: count }, (_, index) => {
    const stream = below(3) > 0
    const model = oneOf(MODELS)
    const play = {
      ...{ id: `call-${index}`, kind: oneOf(stream ? KINDS : WHOLE_KINDS) },
      ...{ prompt: 200 + below(4_000), completion: 1 + below(300), cached: below(100) },
      // Gemini bills nothing for what it writes.
      written: model.startsWith('gemini') ? 0 : below(100),
    }
    return { api: oneOf(APIS), model, stream, play, requestId: null, status: 0 }
  })
}

async function ask(url: string, key: string, call: Asked): Promise<void> {
  const { api, model, stream, play } = call
  const leaving = new AbortController()
  try {
    const reply = await fetch(url + api.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(api.body(model, `PLAY ${JSON.stringify(play)}`, stream)),
      signal: leaving.signal,
    })
    call.status = reply.status
    call.requestId = reply.headers.get('x-request-id')
    if (play.kind === 'slow') setTimeout(() => leaving.abort(), 50)
    await reply.text()
  } catch {
    // It was cut, or left.
  }
}

const OUTCOMES: Partial<Record<Kind, string>> = { well: 'ok', late: 'ok', slow: 'cancelled' }

function compare(calls: Asked[], rows: Row[], prices: Map<string, Price>): void {
  const byRequest = new Map(rows.map((row) => [row.request_id, row]))
  const table = new Map<string, { calls: number; tokens: number; nanos: number; wrong: number }>()
  const faults: string[] = []
  for (const call of calls) {
    const { play, api, model } = call
    const row = call.requestId === null ? undefined : byRequest.get(call.requestId)
    const outcome = OUTCOMES[play.kind] ?? 'failed'
    const fault = row === undefined ? 'no row' : faultOf(row, outcome, play, prices.get(model))
    if (fault !== null) faults.push(`${api.path} ${model} ${play.kind} ${call.status}: ${fault}`)
    const line = table.get(`${api.path}|${play.kind}`) ?? { calls: 0, tokens: 0, nanos: 0, wrong: 0 }
    line.calls++
    line.tokens += row === undefined ? 0 : row.prompt_tokens + row.completion_tokens
    line.nanos += row?.cost_nanos ?? 0
    if (fault !== null) line.wrong++
    table.set(`${api.path}|${play.kind}`, line)
  }
  printTable(
    `${calls.length} calls, ${AT_ONCE} at once, against ${rows.length} rows of the ledger`,
    ['API', 'what happened', 'calls', 'tokens', 'nanodollars', 'wrong'],
    [...table].sort().map(([name, line]) => [...name.split('|'), line.calls, line.tokens, line.nanos, line.wrong]),
  )
  for (const fault of faults.slice(0, 10)) console.log(`  ${fault}`)
  const isExact = faults.length === 0 && rows.length === calls.length
  console.log(isExact ? '\n  Every call has its row, and every row is exact.' : '\n  The ledger is wrong.')
  if (!isExact) process.exitCode = 1
}

/** Of an answer every token and nanodollar is known; of what was cut or left, that the vendor's own count of the prompt is kept. */
function faultOf(row: Row, outcome: string, play: Play, price: Price | undefined): string | null {
  if (row.outcome !== outcome) return `${row.outcome} instead of ${outcome}`
  if (outcome !== 'ok') return null
  const told = [row.prompt_tokens, row.completion_tokens, row.cached_tokens].join(' ')
  const billed = [play.prompt, play.completion, play.cached].join(' ')
  if (told !== billed) return `tokens ${told} instead of ${billed}`
  if (price === undefined) return 'no price'
  const fresh = play.prompt - play.cached - play.written
  const micros = fresh * price.input + play.cached * price.cached + play.written * price.written
  const nanos = Math.round((micros + play.completion * price.output) * 1_000)
  return row.cost_nanos === nanos ? null : `${row.cost_nanos} nanodollars instead of ${nanos}`
}
