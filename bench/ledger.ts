// Checks that the ledger is exact: sends thousands of mixed calls to every API and compares each
// call's row with the vendor's record, in tokens and in nanodollars. One difference fails the run.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  APIS,
  type Api,
  compareAmounts,
  fetchPrices,
  type Price,
  randomNumbers,
  startVendor,
} from './ledger/calls.ts'
import type { Kind, Play } from './ledger/vendor.ts'
import { payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'thousands of calls to every API, compared with the ledger: tokens and nanodollars'

const AT_ONCE = 40
const MODELS = ['gpt-6.1-terra', 'gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
const KINDS: Kind[] = [
  ...Array<Kind>(8).fill('well'),
  ...(['late', 'refused', 'cut', 'no-end', 'error-event', 'garbage', 'slow'] as const),
]
/** The vendor never cuts whole answers, and their callers never leave. */
const WHOLE_KINDS: Kind[] = ['well', 'well', 'well', 'late', 'refused']

type Asked = {
  api: Api
  model: string
  stream: boolean
  play: Play
  requestId: string | null
  status: number
}

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
  const vendor = await startVendor()
  const service = await startService({
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    ...vendor.env,
  })
  try {
    const { key } = await payingKey(service)
    const prices = await fetchPrices(service.url, key)
    const calls = planCalls(Number(count))
    const waiting = calls.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const call of waiting) await ask(service.url, key, call)
      }),
    )
    // Calls that their callers left are settled once the vendor's socket has closed.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const db = new DatabaseSync(join(service.dataDir, 'latchkey.db'), {
      readOnly: true,
      timeout: 5_000,
    })
    const rows = db.prepare('select * from usage_records').all() as unknown as Row[]
    db.close()
    compare(calls, rows, prices)
  } finally {
    await service.stop()
    vendor.stop()
  }
}

/** Plans the same calls in each run. */
function planCalls(count: number): Asked[] {
  const { below, oneOf } = randomNumbers()
  return Array.from({ length: count }, (_, index) => {
    const stream = below(3) > 0
    const model = oneOf(MODELS)
    const play = {
      id: `call-${index}`,
      kind: oneOf(stream ? KINDS : WHOLE_KINDS),
      prompt: 200 + below(4_000),
      completion: 1 + below(300),
      cached: below(100),
      // Gemini does not bill cache writes.
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
    // The vendor cut the answer, or the caller left.
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
    const fault = row === undefined ? 'no row' : findFault(row, outcome, play, prices.get(model))
    if (fault !== null) faults.push(`${api.path} ${model} ${play.kind} ${call.status}: ${fault}`)
    const line = table.get(`${api.path}|${play.kind}`) ?? {
      calls: 0,
      tokens: 0,
      nanos: 0,
      wrong: 0,
    }
    line.calls++
    line.tokens += row === undefined ? 0 : row.prompt_tokens + row.completion_tokens
    line.nanos += row?.cost_nanos ?? 0
    if (fault !== null) line.wrong++
    table.set(`${api.path}|${play.kind}`, line)
  }
  printTable(
    `${calls.length} calls, ${AT_ONCE} at once, against ${rows.length} rows of the ledger`,
    ['API', 'behaviour', 'calls', 'tokens', 'nanodollars', 'wrong'],
    [...table]
      .sort()
      .map(([name, line]) => [...name.split('|'), line.calls, line.tokens, line.nanos, line.wrong]),
  )
  for (const fault of faults.slice(0, 10)) console.log(`  ${fault}`)
  const isExact = faults.length === 0 && rows.length === calls.length
  console.log(
    isExact ? '\n  Every call has its row, and every row is exact.' : '\n  The ledger is wrong.',
  )
  if (!isExact) process.exitCode = 1
}

/**
 * Compares every token and nanodollar of an answer; of cut or abandoned ones, only the vendor's
 * prompt count.
 */
function findFault(row: Row, outcome: string, play: Play, price: Price | undefined): string | null {
  if (row.outcome !== outcome) return `${row.outcome} instead of ${outcome}`
  if (outcome !== 'ok') return null
  return compareAmounts(row, play, price)
}
