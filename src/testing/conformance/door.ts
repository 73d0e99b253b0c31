// A door: an API that clients use. It writes a request in its format and reads the answer as that
// API's SDKs do.
import type { Ask, ClientReading, Json } from './words.ts'

export type DoorName = 'chat completions' | 'responses' | 'messages'

export type Door = {
  name: DoorName
  path: string
  headers: Record<string, string>
  body(ask: Ask): Json
  readWhole(body: Json): Reading
  readStream(events: SseEvent[]): Reading
  errorOf(body: Json): ClientReading['error']
}

/** The answer, and the missing members of the API's shape. */
export type Reading = Pick<
  ClientReading,
  'text' | 'thought' | 'calls' | 'callTexts' | 'finish' | 'tokens' | 'isWhole' | 'faults' | 'kept'
> & { error?: ClientReading['error'] }

export type SseEvent = { name: string | null; data: string }

export const EMPTY: Omit<Reading, 'kept'> = {
  text: '',
  thought: '',
  calls: [],
  callTexts: [],
  finish: null,
  tokens: null,
  isWhole: false,
  faults: [],
}

export function parseEvents(text: string): SseEvent[] {
  return text.split(/\r?\n\r?\n/).flatMap((block) => {
    const lines = block.split(/\r?\n/)
    const data = lines
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
    const name =
      lines
        .find((line) => line.startsWith('event:'))
        ?.slice(6)
        .trim() ?? null
    return data.length === 0 ? [] : [{ name, data: data.join('\n') }]
  })
}

export function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Json)
      : {}
  } catch {
    return {}
  }
}

export function parseArguments(text: unknown): Json {
  if (typeof text !== 'string') throw new Error(`arguments are ${JSON.stringify(text)}`)
  if (text === '') return {}
  // A text tool's call contains its text instead of JSON.
  return text.startsWith('{') ? (JSON.parse(text) as Json) : { input: text }
}
