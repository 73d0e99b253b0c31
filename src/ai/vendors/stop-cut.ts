// Cuts an answer at a stop sequence, for models that do not accept them. The trap: reasoning is
// billed, and only the end of the stream reports its tokens. So the stream is read to its end, or
// closed at the cut where no reasoning was requested.
import type { ChatRequest } from './chat-request.ts'
import { type AnswerChunk, createFinishChunk, createTextChunk } from './chunk.ts'
import type { Answer, EventReader } from './vendor.ts'
import { createRefusal } from './vendor-error.ts'

/** Every chunk is searched for all stop sequences. */
const STOPS_MAX = 16
const STOP_LENGTH_MAX = 256

export type StopCut = {
  /** The stop sequence that cut the answer; null so far. */
  readonly matched: string | null
  cutAnswer(answer: Answer): Answer
  wrapReader(reader: EventReader): EventReader
}

/** Null without stop sequences. @throws VendorError for requests that cannot be cut here */
export function createStopCut({ stop, n, reasoning_effort: effort }: ChatRequest): StopCut | null {
  // The gateway passes any JSON on, so the value may have any type.
  const stops = ([stop ?? []] as unknown[]).flat().filter((one) => one !== '')
  if (stops.length === 0) return null
  if (stops.length > STOPS_MAX || !stops.every(isStop))
    throw createRefusal(
      `'stop' accepts at most ${STOPS_MAX} texts of at most ${STOP_LENGTH_MAX} characters with this model`,
      'stop',
    )
  if ((n ?? 1) > 1)
    throw createRefusal(
      "'stop' and more than one choice are not supported together by this model",
      'stop',
    )
  const endsAtCut = effort === 'none'
  let matched: string | null = null
  return {
    get matched() {
      return matched
    },
    cutAnswer(answer) {
      const found = findStop(answer.text, stops)
      matched = found?.stop ?? null
      if (found === null) return answer
      return {
        ...answer,
        text: answer.text.slice(0, found.at),
        toolCalls: [],
        finish: 'stop',
        body: null,
      }
    },
    wrapReader(reader) {
      matched = null
      let held = ''
      let isCut = false
      const read: AnswerChunk[] = []
      const give = (chunk: AnswerChunk, chunks: AnswerChunk[]) => {
        if (chunk.reasoning !== '' || chunk.details !== null) {
          chunks.push({ ...chunk, text: '', tools: null, finish: null, event: null })
        }
        held += chunk.text
        const found = findStop(held, stops)
        const isLast = chunk.tools !== null || chunk.finish !== null
        const end =
          found?.at ?? (isLast ? held.length : held.length - measureHeldLength(held, stops))
        if (end > 0) chunks.push(createTextChunk(held.slice(0, end)))
        held = held.slice(end)
        if (found !== null) {
          isCut = true
          matched = found.stop
          chunks.push(createFinishChunk('stop'))
        } else if (isLast) {
          chunks.push({ ...chunk, text: '', reasoning: '', details: null, event: null })
        }
      }
      return {
        get isWhole() {
          return (isCut && endsAtCut) || reader.isWhole
        },
        get isOver() {
          return (isCut && endsAtCut) || reader.isOver
        },
        get isCut() {
          return isCut && endsAtCut
        },
        get usage() {
          return reader.usage
        },
        get model() {
          return reader.model
        },
        read(data, chunks) {
          read.length = 0
          reader.read(data, read)
          for (const chunk of read) if (!isCut) give(chunk, chunks)
        },
      }
    },
  }
}

const isStop = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= STOP_LENGTH_MAX

/** Finds the sequence that ends first, however the chunks fall; of two, the longer. */
function findStop(text: string, stops: readonly string[]): { at: number; stop: string } | null {
  let first: { at: number; stop: string } | null = null
  for (const stop of stops) {
    const at = text.indexOf(stop)
    if (at === -1) continue
    const difference = first === null ? -1 : at + stop.length - (first.at + first.stop.length)
    if (first === null || difference < 0 || (difference === 0 && at < first.at))
      first = { at, stop }
  }
  return first
}

/** Returns how much of the end may begin a stop sequence. */
function measureHeldLength(text: string, stops: readonly string[]): number {
  let longest = 0
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) longest = length
    }
  }
  return longest
}
