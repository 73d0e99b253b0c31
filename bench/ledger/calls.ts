// Shared by the ledger's measurements: the APIs and their requests, the vendor's process, the
// prices, and the comparison of a row with the vendor's bill.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../lib/service.ts'
import type { Book, Play } from './vendor.ts'

export type Api = {
  path: string
  body(model: string, prompt: string, stream: boolean): Record<string, unknown>
  /** Fields that name the end user. They identify a call in the ledger when its reply is lost. */
  endUser(name: string): object
  /** Text that only a complete stream contains. */
  endMark: string
}

export const APIS: Api[] = [
  {
    path: '/v1/chat/completions',
    body: (model, content, stream) => ({
      model,
      stream,
      max_tokens: 500,
      messages: [{ role: 'user', content }],
    }),
    endUser: (user) => ({ user }),
    endMark: 'data: [DONE]',
  },
  {
    path: '/v1/responses',
    body: (model, input, stream) => ({ model, stream, max_output_tokens: 500, input }),
    endUser: (name) => ({ safety_identifier: name }),
    endMark: '"type":"response.completed"',
  },
  {
    path: '/v1/messages',
    body: (model, content, stream) => ({
      model,
      stream,
      max_tokens: 500,
      messages: [{ role: 'user', content }],
    }),
    endUser: (name) => ({ metadata: { user_id: name } }),
    endMark: '"type":"message_stop"',
  },
]

export type BenchVendor = {
  /** Environment that makes it the vendor of every API. */
  env: Record<string, string>
  book(): Promise<Book>
  stop(): void
}

/** Starts the vendor in a separate process. */
export async function startVendor(): Promise<BenchVendor> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'vendor.ts'), String(port)])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const origin = `http://127.0.0.1:${port}`
  return {
    env: {
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: 'sk-bench',
      GEMINI_BASE_URL: origin,
      GEMINI_API_KEY: 'bench',
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: 'sk-bench',
    },
    book: async () => (await fetch(`${origin}/book`)).json() as Promise<Book>,
    stop: () => void child.kill(),
  }
}

export type Price = { input: number; output: number; cached: number; written: number }

/** Reads the prices from the service. Cache writes cost a quarter more than input. */
export async function fetchPrices(url: string, key: string): Promise<Map<string, Price>> {
  const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await reply.json()) as {
    data: { id: string; price: Omit<Price, 'written'> | null }[]
  }
  return new Map(
    data.flatMap(({ id, price }) =>
      price === null ? [] : [[id, { ...price, written: price.input * 1.25 }] as const],
    ),
  )
}

type Amounts = {
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nanos: number
}

/** Returns null when the row has the exact tokens and nanodollars. */
export function compareAmounts(row: Amounts, play: Play, price: Price | undefined): string | null {
  const recorded = [row.prompt_tokens, row.completion_tokens, row.cached_tokens].join(' ')
  const billed = [play.prompt, play.completion, play.cached].join(' ')
  if (recorded !== billed) return `tokens ${recorded} instead of ${billed}`
  if (price === undefined) return 'no price'
  const nanos = computeNanos(play, price)
  return row.cost_nanos === nanos ? null : `${row.cost_nanos} nanodollars instead of ${nanos}`
}

export function computeNanos(
  { prompt, completion, cached, written }: Omit<Play, 'id' | 'kind'>,
  price: Price,
): number {
  const micros =
    (prompt - cached - written) * price.input + cached * price.cached + written * price.written
  return Math.round((micros + completion * price.output) * 1_000)
}

/**
 * Returns the same numbers in each run.
 * https://en.wikipedia.org/wiki/Lehmer_random_number_generator
 */
export function randomNumbers(seed = 1) {
  let state = seed
  const below = (most: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % most
  }
  return { below, oneOf: <T>(list: readonly T[]) => list[below(list.length)] as T }
}
