// Kills the service with SIGKILL during calls of all three APIs, restarts it, and compares each
// call's row with the vendor's record. The end user identifies a call in the ledger, because a
// killed call has no reply with its id.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  APIS,
  type Api,
  type BenchVendor,
  compareAmounts,
  fetchPrices,
  type Price,
  randomNumbers,
} from '../ledger/calls.ts'
import type { BookEntry, Kind, Play } from '../ledger/vendor.ts'
import { payingKey, type RunningService, startService } from '../lib/service.ts'

export type KillsResult = {
  calls: Killed[]
  /** One sentence per fault; empty when everything is correct. */
  wrong: string[]
  restartMs: number[]
}

/** `whole`: every byte arrived. `failed`: the caller got an error. `killed`: neither. */
type End = 'whole' | 'failed' | 'killed'
type Call = {
  api: Api
  model: string
  stream: boolean
  play: Play
  killedMs: number | null
  end: End
  status: number
}
/**
 * `young`: the call ran too short a time to be recorded, and is not recorded. `unasked`: it never
 * reached the vendor.
 */
export type Killed = Call & {
  record: 'recorded' | 'young' | 'unasked'
  /** The next process recorded it. */
  isCrashed: boolean
}

const AT_ONCE = 40
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
const KINDS: Kind[] = [...Array<Kind>(8).fill('well'), 'late', 'refused', 'cut']
const WAITS_MS = [0, 0, 0, 20, 200, 1_000, 2_500, 5_000]
/** The service records calls that have run for a second, once a second. */
const NOTED_MS = 2_000
/** Allowance for a late timer. */
const TIMER_MS = 1_000
const OFF = { RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AI: 'off' }

type Row = {
  end_user: string
  outcome: string
  error_code: string | null
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nanos: number
}

/**
 * Kills the service `kills` times, each `aliveMs` after its load starts. `then` gets the service
 * after the last kill.
 */
export async function killRounds<T>(
  vendor: BenchVendor,
  kills: number,
  aliveMs: number,
  then: (service: RunningService) => Promise<T>,
): Promise<{ killed: KillsResult; last: T }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-durability-'))
  const start = () => startService({ ...OFF, ...vendor.env }, { dataDir })
  let service = await start()
  try {
    const { key } = await payingKey(service)
    const prices = await fetchPrices(service.url, key)
    const next = callMaker()
    const calls: Call[] = []
    const [restartMs, wrong]: [number[], string[]] = [[], []]
    for (let kill = 0; kill < kills; kill++) {
      const mine: Call[] = []
      const working = Promise.all(
        Array.from({ length: AT_ONCE }, () => callUntilKilled(service, key, next, mine)),
      )
      await new Promise((resolve) => setTimeout(resolve, aliveMs))
      const killedMs = Date.now()
      service.child.kill('SIGKILL')
      await working
      for (const call of mine) if (call.end === 'killed') call.killedMs = killedMs
      calls.push(...mine)
      service = await start()
      restartMs.push(Math.round(service.startMs))
      wrong.push(
        ...(await findLeftovers(service, key)).map((fault) => `after kill ${kill + 1}: ${fault}`),
      )
    }
    const rows = readRows(dataDir)
    const { judged, faults } = judge(calls, rows, await vendor.book(), prices)
    const killed = { calls: judged, wrong: [...wrong, ...faults, ...wrongSums(dataDir)], restartMs }
    return { killed, last: await then(service) }
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function callMaker(): () => Call {
  const { below, oneOf } = randomNumbers()
  let count = 0
  return () => {
    const model = oneOf(MODELS)
    const stream = below(2) > 0
    const kind = oneOf(KINDS)
    const play: Play = {
      // The vendor never cuts whole answers.
      id: `call-${count++}`,
      kind: kind === 'cut' && !stream ? 'well' : kind,
      prompt: 50 + below(200),
      completion: 1 + below(100),
      cached: below(20),
      written: model.startsWith('gemini') ? 0 : below(20),
      waitMs: oneOf(WAITS_MS),
    }
    return { api: oneOf(APIS), model, stream, play, killedMs: null, end: 'killed', status: 0 }
  }
}

async function callUntilKilled(
  { url }: RunningService,
  key: string,
  next: () => Call,
  calls: Call[],
): Promise<void> {
  while (true) {
    const call = next()
    calls.push(call)
    await ask(url, key, call)
    if (call.end === 'killed') return
  }
}

async function ask(url: string, key: string, call: Call): Promise<void> {
  const { api, model, stream, play } = call
  const body = {
    ...api.body(model, `PLAY ${JSON.stringify(play)}`, stream),
    ...api.endUser(play.id),
  }
  try {
    const reply = await fetch(url + api.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    call.status = reply.status
    const text = await reply.text()
    const isWhole = reply.ok && (stream ? text.includes(api.endMark) : JSON.parse(text) !== null)
    call.end = isWhole ? 'whole' : 'failed'
  } catch {
    // The process was killed.
  }
}

/** Finds state that the start after a kill should have settled. */
async function findLeftovers({ url, dataDir }: RunningService, key: string): Promise<string[]> {
  const reply = await fetch(`${url}/api/usage/allowance`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { reserved_usd } = (await reply.json()) as { reserved_usd: number }
  const open = read<{ count: number }>(dataDir, 'select count(*) as count from usage_open_calls')[0]
    ?.count
  const held = read(
    dataDir,
    'select * from usage_reservations where tokens <> 0 or nanos <> 0',
  ).length
  return [
    ...(reserved_usd === 0 ? [] : [`$${reserved_usd} is reserved`]),
    ...(open === 0 ? [] : [`${open} calls are still recorded as running`]),
    ...(held === 0 ? [] : [`${held} reservations remain`]),
  ]
}

function judge(
  calls: Call[],
  rows: Row[],
  book: Record<string, BookEntry>,
  prices: Map<string, Price>,
) {
  const rowsByUser = Map.groupBy(rows, ({ end_user }) => end_user)
  const faults: string[] = []
  const judged = calls.map((call): Killed => {
    const { play, api, model, stream, end } = call
    const own = rowsByUser.get(play.id) ?? []
    rowsByUser.delete(play.id)
    const entry = book[play.id]
    const ageMs =
      call.killedMs === null || entry === undefined ? 0 : call.killedMs - entry.firstAskedMs
    const isYoung = end === 'killed' && ageMs < NOTED_MS + TIMER_MS
    const fault =
      own.length > 1
        ? `recorded ${own.length} times`
        : own[0] === undefined
          ? isYoung
            ? null
            : `lost (${end}, ${Math.round(ageMs)} ms old)`
          : wrongRow(own[0], call, entry, prices.get(model))
    if (fault !== null) {
      faults.push(
        `${api.path} ${model} ${stream ? 'streamed' : 'whole'} ${play.kind} ${call.status}: ${fault}`,
      )
    }
    const record = own.length > 0 ? 'recorded' : entry === undefined ? 'unasked' : 'young'
    return { ...call, record, isCrashed: own[0]?.error_code === 'crashed' }
  })
  for (const [name, own] of rowsByUser)
    faults.push(`${own.length} rows of ${name || 'no end user'}, who made no call`)
  return { judged, faults }
}

/**
 * Finds a fault in the row of a call. After a kill, the next process writes the row: it estimates
 * the prompt and the part of the answer that was sent. The killed process may have written it
 * before the reply.
 */
function wrongRow(
  row: Row,
  { play, end, stream }: Call,
  asked: BookEntry | undefined,
  price: Price | undefined,
): string | null {
  if (row.outcome === 'ok') {
    if (asked?.answered !== 1)
      return `${asked?.answered ?? 0} answers of the vendor are recorded as one`
    return end === 'failed' ? 'recorded as answered' : compareAmounts(row, play, price)
  }
  if (end === 'whole') return `${row.outcome} instead of ok`
  if (end === 'failed')
    return row.outcome === 'failed' && row.error_code !== 'crashed'
      ? null
      : `recorded as ${row.outcome}`
  if (row.error_code !== 'crashed')
    return play.kind === 'refused' || play.kind === 'cut' ? null : `${row.error_code}`
  if (row.prompt_tokens === 0 || row.cost_nanos === 0) return 'recorded without the prompt'
  // No token of a whole answer had arrived; of a stream, the words before its pause had.
  return row.completion_tokens > 0 === stream
    ? null
    : `recorded with ${row.completion_tokens} tokens of an answer`
}

/** The sums must match the rows. */
function wrongSums(dataDir: string): string[] {
  const sum = (table: string, columns: string) =>
    JSON.stringify(read(dataDir, `select ${columns} from ${table}`)[0])
  const ofRecords = (calls: string) =>
    `${calls} as calls, sum(prompt_tokens + completion_tokens) as tokens, sum(cost_nanos) as nanos`
  const records = sum('usage_records', ofRecords('count(*)'))
  const days = sum('usage_days', ofRecords('sum(requests)'))
  const used = sum(
    "usage_budgets where scope = ''",
    'sum(used_tokens) as tokens, sum(used_nanos) as nanos',
  )
  const spent = sum(
    'usage_records',
    'sum(prompt_tokens + completion_tokens) as tokens, sum(cost_nanos) as nanos',
  )
  return [
    ...(records === days ? [] : [`the days' sums are ${days} instead of ${records}`]),
    ...(used === spent ? [] : [`the budget's use is ${used} instead of ${spent}`]),
  ]
}

const readRows = (dataDir: string) => read<Row>(dataDir, 'select * from usage_records')

function read<R>(dataDir: string, query: string): R[] {
  const db = new DatabaseSync(join(dataDir, 'latchkey.db'), { readOnly: true, timeout: 5_000 })
  try {
    return db.prepare(query).all() as R[]
  } finally {
    db.close()
  }
}
