// Encodes an answer as server-sent events, in the product's format or another API's, with one write
// per batch of chunks. A write that fills the client's buffers pauses the vendor. A late answer
// gets its stream opened early; until then, a failure is a plain reply with a status.
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { NamedObject } from '#platform/http/schema.ts'
import { type EventStream, openStream } from '#platform/http/sse.ts'
import type { Problem } from '#platform/problem.ts'
import { COST_HEADER } from './call-origin.ts'
import type { CompletionStream } from './chat-call.ts'
import type { AnswerChunk } from './vendors/chunk.ts'

/** The format of an event stream. */
export type StreamEncoder = {
  /** Called when the answer begins. */
  answer(answer: CompletionStream): AnswerEncoder
  /** Ends a cut answer; no `[DONE]` follows. */
  failure(problem: Problem): string
  /** False for a format with its own end event. */
  endsWithDone?: false
}

export type AnswerEncoder = {
  batch(chunks: AnswerChunk[]): string
  /** Returns the last events before `[DONE]`. */
  end(): string
}

/** The events in the API description; an event without a name is a `message`. */
export const TokenEvent = NamedObject(
  'TokenEvent',
  { token: Type.String() },
  { description: 'A chunk of the answer.' },
)
export const ErrorEvent = NamedObject(
  'ErrorEvent',
  { detail: Type.String(), code: Type.String() },
  { description: 'The answer is cut; no `[DONE]` follows.' },
)

/** Writes `data: {"token":"…"}` for each chunk with text. */
export function encodeTokens(chunks: AnswerChunk[]): string {
  let text = ''
  for (const chunk of chunks)
    if (chunk.text !== '') text += `data: {"token":${JSON.stringify(chunk.text)}}\n\n`
  return text
}

/** Writes `event: error`; no `[DONE]` follows. */
export function encodeError({ message, code }: Problem): string {
  return `event: error\ndata: ${JSON.stringify({ detail: message, code })}\n\n`
}

/** Writes the tokens, and `event: reasoning` before them for visible reasoning. */
export function encodeTokensAndReasoning(chunks: AnswerChunk[]): string {
  let text = ''
  for (const chunk of chunks) {
    if (chunk.reasoning !== '')
      text += `event: reasoning\ndata: {"token":${JSON.stringify(chunk.reasoning)}}\n\n`
    if (chunk.text !== '') text += `data: {"token":${JSON.stringify(chunk.text)}}\n\n`
  }
  return text
}

/**
 * Opens the reply's stream when `pending` resolves, or after `silenceMs` without it: proxies and
 * people give up on a silent reply, and models reason for minutes.
 * After `write` follows `[DONE]`, unless `write` ended the stream; after `failure` nothing follows.
 * @throws the rejection of `pending`, while nothing was sent
 */
export async function sendEventStream<T extends object>(
  reply: FastifyReply,
  silenceMs: number,
  pending: Promise<T>,
  readHeaders: (result: T) => Record<string, string>,
  write: (events: EventStream, result: T) => Promise<void>,
  failure: (error: unknown) => string,
): Promise<FastifyReply> {
  const result = await withinMs(silenceMs, pending)
  if (result !== null) reply.headers(readHeaders(result))
  // Part of the cost may be known already; the whole is known at the end.
  reply.removeHeader(COST_HEADER)
  const events = openStream(reply)
  // Proxies wait for the first byte of the body, not for the head.
  if (result === null) void events.write(': ping\n\n')
  try {
    await write(events, result ?? (await pending))
    events.done()
  } catch (error) {
    if (!events.signal.aborted) void events.write(failure(error))
    events.end()
  }
  return reply
}

/** Returns null if `pending` has not resolved by then. */
export async function withinMs<T>(ms: number, pending: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null)
  })
  try {
    return await Promise.race([pending, silence])
  } finally {
    clearTimeout(timer)
  }
}
