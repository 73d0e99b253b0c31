// Plays every case through every API of a gateway on every vendor's model. Each cell is right,
// correctly refused, or wrong with a reason.

import { chatDoor } from './chat-door.ts'
import { type Door, type DoorName, EMPTY, parsed, parseEvents } from './door.ts'
import { messagesDoor } from './messages-door.ts'
import { responsesDoor } from './responses-door.ts'
import type { Play, StrictVendors, VendorCell } from './strict-vendors.ts'
import type { Ask, AskTurn, ClientReading, Json, ReceivedRequest, VendorName } from './words.ts'

export const VENDORS: readonly VendorName[] = ['openai', 'anthropic', 'gemini']
export const DOORS: Record<DoorName, Door> = {
  'chat completions': chatDoor,
  responses: responsesDoor,
  messages: messagesDoor,
}

/**
 * The kind of model that a case needs: with little or no reasoning, with reasoning, with hearing,
 * with a temperature, or with ample limits.
 */
export const MODELS = {
  plain: { openai: 'gpt-4.1-mini', anthropic: 'claude-haiku-5-5', gemini: 'gemini-3.8-flash' },
  thinking: { openai: 'gpt-6-luna', anthropic: 'claude-sonnet-5-5', gemini: 'gemini-3.8-flash' },
  hearing: { openai: 'gpt-audio', anthropic: 'claude-haiku-5-5', gemini: 'gemini-3.8-flash' },
  warm: { openai: 'gpt-4.1-mini', anthropic: 'claude-haiku-4-5', gemini: 'gemini-3.8-flash' },
  other: { openai: 'gpt-6.1-terra', anthropic: 'claude-opus-5-5', gemini: 'gemini-3.5-flash-lite' },
} as const

/** A gateway under test. */
export type GatewayUnderTest = { url: string; headers(vendor: VendorName): Record<string, string> }

export type Case = {
  name: string
  /** The APIs that can express it; omitted: all. */
  doors?: readonly DoorName[]
  /**
   * @throws Error with the reason why the cell is wrong. Returns `refused` for a correct rejection.
   */
  run(cell: Cell): Promise<unknown>
}

export type Answered = {
  told: ClientReading
  heard: ReceivedRequest
  all: ReceivedRequest[]
  refusals: string[]
}

export type Cell = {
  vendor: VendorName
  door: DoorName
  /** True when the door uses this vendor's own format. */
  isOwn: boolean
  model(kind: keyof typeof MODELS): string
  ask(ask: CellAsk, ...plays: [Play, ...Play[]]): Promise<Answered>
  /** Asks another vendor, to continue its conversation here. */
  askOf(vendor: VendorName, ask: CellAsk, ...plays: [Play, ...Play[]]): Promise<Answered>
  /** Sends a body in the door's own format. */
  send(
    body: Json,
    play: Play,
    more?: { path?: string; headers?: Record<string, string> },
  ): Promise<Answered>
  /**
   * Leaves after the first words. Returns the time until the gateway left the vendor; null if it
   * did not.
   */
  leave(ask: CellAsk, play: Play): Promise<number | null>
}

/** Omitted: the plain model, and a first question. */
export type CellAsk = Omit<Partial<Ask>, 'model'> & { kind?: keyof typeof MODELS }

export type Outcome = {
  name: string
  door: DoorName
  vendor: VendorName
  verdict: 'right' | 'refused' | 'wrong'
  why: string
}

export async function runMatrix(
  vendors: StrictVendors,
  gateway: GatewayUnderTest,
  cases: readonly Case[],
  { doors, atOnce }: { doors: readonly DoorName[]; atOnce: number },
): Promise<Outcome[]> {
  const cells = cases.flatMap((one) =>
    doors
      .filter((door) => one.doors?.includes(door) ?? true)
      .flatMap((door) => VENDORS.map((vendor) => ({ one, door, vendor }))),
  )
  const outcomes: Outcome[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < cells.length; at = next++) {
      const { one, door, vendor } = cells[at] as (typeof cells)[number]
      outcomes[at] = await runCase(one, findCell(vendors, gateway, door, vendor))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return outcomes
}

async function runCase(one: Case, cell: Cell): Promise<Outcome> {
  const place = { name: one.name, door: cell.door, vendor: cell.vendor }
  try {
    return { ...place, verdict: (await one.run(cell)) === 'refused' ? 'refused' : 'right', why: '' }
  } catch (error) {
    const why = (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 300)
    return { ...place, verdict: 'wrong', why }
  }
}

let asks = 0
/**
 * Only for answers of cases without an own expectation, so that a missing user id counts as one
 * fault and not in every case.
 */
const LIMIT = 4_000
/** Beyond it, the gateway has lost its caller. */
const PATIENCE_MS = 60_000
const LEFT_MS = 5_000

function findCell(
  vendors: StrictVendors,
  gateway: GatewayUnderTest,
  doorName: DoorName,
  own: VendorName,
): Cell {
  const door = DOORS[doorName]
  const open = (vendor: VendorName, ask: CellAsk, plays: Play[]) => {
    const { kind = 'plain', turns = QUESTION, ...rest } = ask
    const { id, cell } = register(vendors, plays)
    const model = MODELS[kind][vendor]
    return { cell, body: door.body({ model, limit: LIMIT, turns: marked(turns, id), ...rest }) }
  }
  const post = (
    vendor: VendorName,
    path: string,
    body: Json,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...door.headers,
        ...gateway.headers(vendor),
        ...headers,
      },
      body: JSON.stringify(body),
      signal: signal ?? AbortSignal.timeout(PATIENCE_MS),
    })
  const askOf: Cell['askOf'] = async (vendor, ask, ...plays) => {
    const { cell, body } = open(vendor, ask, plays)
    return answered(cell, await readReply(door, await post(vendor, door.path, body, ask.headers)))
  }
  return {
    vendor: own,
    door: doorName,
    isOwn:
      (doorName === 'responses' && own === 'openai') ||
      (doorName === 'messages' && own === 'anthropic'),
    model: (kind) => MODELS[kind][own],
    askOf,
    ask: (ask, ...plays) => askOf(own, ask, ...plays),
    async send(body, play, { path = door.path, headers } = {}) {
      const { id, cell } = register(vendors, [play])
      const text = JSON.stringify(body).replaceAll('(cell)', `(cell ${id})`)
      return answered(
        cell,
        await readReply(door, await post(own, path, JSON.parse(text) as Json, headers)),
      )
    },
    async leave(ask, play) {
      const { cell, body } = open(own, ask, [play])
      const gone = new Promise<void>((resolve) => {
        cell.onGone = resolve
      })
      const leaving = new AbortController()
      const reply = await post(own, door.path, body, {}, leaving.signal)
      await reply.body?.getReader().read()
      const left = performance.now()
      leaving.abort()
      return Promise.race([gone.then(() => performance.now() - left), after(LEFT_MS)])
    },
  }
}

const QUESTION: AskTurn[] = [{ user: [{ text: 'What is the weather in Wien?' }] }]

function register(vendors: StrictVendors, plays: Play[]) {
  const id = `n${++asks}`
  const cell: VendorCell = { plays: [...plays], heard: [], refusals: [], gone: 0, onGone: () => {} }
  vendors.cells.set(id, cell)
  return { id, cell }
}

/** The cell's number in the first words of the user. */
function marked(turns: AskTurn[], id: string): AskTurn[] {
  const first = turns.findIndex(
    (turn) => 'user' in turn && turn.user.some((part) => 'text' in part && part.text !== ''),
  )
  return turns.map((turn, index) => {
    if (index !== first || !('user' in turn)) return turn
    const at = turn.user.findIndex((part) => 'text' in part && part.text !== '')
    return {
      user: turn.user.map((part, place) =>
        place === at && 'text' in part ? { ...part, text: `${part.text} (cell ${id})` } : part,
      ),
    }
  })
}

function answered(cell: VendorCell, told: ClientReading): Answered {
  const heard = cell.heard.at(-1)
  const refusals = cell.refusals
  // Cases that expect no request check that themselves.
  return { told, all: cell.heard, refusals, heard: heard ?? describeMissing(told, refusals) }
}

function describeMissing(told: ClientReading, refusals: string[]): ReceivedRequest {
  const why =
    refusals[0] === undefined
      ? `the vendor was not asked (${told.status})`
      : `the vendor refused: ${refusals[0]}`
  return new Proxy({} as ReceivedRequest, {
    get() {
      throw new Error(why)
    },
  })
}

async function readReply(door: Door, reply: Response): Promise<ClientReading> {
  const { status, headers } = reply
  let raw = ''
  let isBroken = false
  const decoder = new TextDecoder()
  try {
    for await (const chunk of reply.body ?? []) raw += decoder.decode(chunk, { stream: true })
  } catch {
    isBroken = true
  }
  const isStream = headers.get('content-type')?.includes('event-stream') ?? false
  const base = { ...EMPTY, status, headers, raw, error: null, kept: null }
  if (status !== 200) return { ...base, error: door.errorOf(parsed(raw)) }
  const reading = isStream ? door.readStream(parseEvents(raw)) : door.readWhole(parsed(raw))
  const broken = isBroken
    ? { isWhole: false, error: { message: 'the connection broke', code: null, type: null } }
    : {}
  return { ...base, ...reading, error: reading.error ?? null, ...broken }
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, null).unref()
  })
}
