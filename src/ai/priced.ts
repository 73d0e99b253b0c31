// Adds the cost to the usage of answers that otherwise pass through as the vendor sent them.

import { parseExactly } from '#platform/exact-json.ts'
import { asObject } from '#platform/json.ts'
import type { CompletionStream } from './chat-call.ts'
import type { AnswerEncoder } from './stream-encoder.ts'
import { formatEvent, parseEventText } from './vendors/native.ts'

type Json = Record<string, unknown>

/** Returns the body with `usage.cost_usd`, or unchanged where it has no usage. */
export function addCost(body: Json, costUsd: number): Json {
  const usage = asObject(body.usage)
  return usage === null ? body : { ...body, usage: { ...usage, cost_usd: costUsd } }
}

/**
 * Passes a vendor's events on. The event with the usage is held back, with all later ones, until
 * the record has computed the cost, which is then added to it.
 * If several events have usage, only the last one changes.
 */
export function createPassingEncoder(answer: Pick<CompletionStream, 'costUsd'>): AnswerEncoder {
  const waiting: string[] = []
  let usageIndex = -1
  return {
    batch(chunks) {
      let text = ''
      for (const { event: chunk } of chunks) {
        if (chunk === null) continue
        if (USAGE_EVENT.test(chunk)) usageIndex = waiting.length
        else if (waiting.length === 0) {
          text += chunk
          continue
        }
        waiting.push(chunk)
      }
      return text
    },
    end: () =>
      waiting
        .map((chunk, index) =>
          index === usageIndex ? addEventCost(chunk, answer.costUsd()) : chunk,
        )
        .join(''),
  }
}

const USAGE_EVENT = /^event: (?:message_delta|response\.completed|response\.incomplete)\n/

/** Anthropic's event has its usage at the top, OpenAI's in its response. */
function addEventCost(lines: string, costUsd: number): string {
  const { type, data } = parseEventText(lines)
  const event = asObject(parseExactly(data)) ?? {}
  const response = asObject(event.response)
  const priced =
    response === null ? addCost(event, costUsd) : { ...event, response: addCost(response, costUsd) }
  return formatEvent(JSON.stringify(priced), type)
}
