// A conversation independent of any wire format: the client's request, the vendor's understanding,
// the vendor's answer, and the client's reading.
// Doors and strict vendors translate to and from these types, so that a case is written once for
// all of them.

export type VendorName = 'openai' | 'anthropic' | 'gemini'

export type Json = Record<string, unknown>

export type Media = { mediaType: string; data: string }

export type AskPart =
  | { text: string; mark?: boolean }
  | { image: Media }
  | { pdf: string; name: string }
  | { audio: string }

export type Call = { id: string; name: string; args: Json }

export type AskTurn =
  | { user: AskPart[] }
  | { assistant: string; calls?: Call[] }
  /** The assistant's turn as a client stores it and sends it back, in the door's own format. */
  | { kept: unknown }
  | { result: string; parts: (string | Media)[]; isError?: boolean }
  | { developer: string }

export type Tool = { name: string; description?: string; schema?: Json; strict?: boolean }

export type Ask = {
  model: string
  system?: AskPart[]
  turns: AskTurn[]
  tools?: Tool[]
  choice?: 'auto' | 'none' | 'required' | { name: string }
  parallel?: boolean
  schema?: Json
  effort?: string
  /** Null: no limit. */
  limit?: number | null
  temperature?: number
  stop?: string[]
  stream?: boolean
  /** Additional members of the door's own format. */
  more?: Json
  headers?: Record<string, string>
}

export type Tokens = {
  prompt: number
  completion: number
  cached?: number
  written?: number
  reasoning?: number
}

/** A vendor's answer. */
export type VendorAnswer = {
  thought?: string
  text?: string
  calls?: { name: string; args: Json }[]
  finish?: 'length' | 'filtered'
  tokens?: Tokens
}

export type ReceivedPart =
  | { kind: 'text'; text: string }
  | { kind: 'media'; mediaType: string; data: string }
  | { kind: 'call'; id: string; name: string; args: unknown }
  | { kind: 'result'; id: string; text: string; media: Media[] }
  | { kind: 'thought'; seal: string }

/** A strict vendor's understanding of the request. */
export type ReceivedRequest = {
  address: string
  /** The request as it came. */
  raw?: string
  headers: Record<string, string | string[] | undefined>
  body: Json
  system: string
  turns: { role: 'user' | 'assistant' | 'tool'; parts: ReceivedPart[] }[]
  tools: { name: string; schema: Json; strict: boolean }[]
  choice: string | null
  parallel: boolean
  schema: Json | null
  effort: string | null
  limit: number | null
  temperature: number | null
  stop: string[]
  isStream: boolean
  /** Marks for the vendor's cache. */
  marks: number
}

/** The client's reading of the answer. */
export type ClientReading = {
  status: number
  headers: Headers
  raw: string
  /** A refusal, or a failure inside a stream. */
  error: { message: string; code: string | null; type: string | null } | null
  text: string
  thought: string
  calls: Call[]
  /** Arguments as written, where they arrive as text or in chunks. */
  callTexts: string[]
  finish: string | null
  tokens: Tokens | null
  /** The door's own end mark has arrived, and the shape is complete. */
  isWhole: boolean
  /** Members of the API's shape that were missing. */
  faults: string[]
  /** The turn as a client stores it, for `kept`. */
  kept: unknown
}

/** Thrown by a strict vendor for a request that the real one rejects. */
export class Refused extends Error {
  readonly status: number
  readonly code: string | null
  readonly param: string | null
  constructor(message: string, more: { status?: number; code?: string; param?: string } = {}) {
    super(message)
    this.status = more.status ?? 400
    this.code = more.code ?? null
    this.param = more.param ?? null
  }
}

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

/** A hash without a secret: a signature with one changed letter is rejected. */
export function sealReasoning(vendor: VendorName, thought: string): string {
  let sum = 7
  for (const letter of `${vendor} ${thought}`)
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 0x7fffffff
  return Buffer.from(`${vendor}-seal-${sum}`).toString('base64')
}

export const isSeal = (vendor: VendorName, seal: unknown): boolean =>
  typeof seal === 'string' && Buffer.from(seal, 'base64').toString().startsWith(`${vendor}-seal-`)
