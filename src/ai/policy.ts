// What all routes that ask a model have in common, whoever's API they speak: their policy, and how their replies are described.
import type { Described } from '#platform/http/openapi.ts'
import { ANSWER_HEADERS } from './attempt-log.ts'

export const AI_POLICY = {
  access: 'user-or-key',
  needs: 'ai',
  limit: 'ai',
  scope: 'ai',
  bodies: 'packed',
  passesOn: true,
} as const

const COST = {
  'X-Latchkey-Cost-Usd': {
    description: 'US dollars, by the price list; absent of a stream.',
    schema: { type: 'string' },
  },
}

/** Of a reply in which a model answers. */
export const ANSWERED = { ...ANSWER_HEADERS, ...COST }
/** Of a reply for which vendors were asked, whoever answers it. */
export const CHARGED = COST

/** In the description alone: no schema serialises the reply, so that whatever a vendor says in it passes. */
export function replying(
  schema: object,
  { parameters, headers }: Extras = {},
): { described: Described } {
  const done = {
    description: 'Done.',
    content: { 'application/json': schema },
    ...(headers && { headers }),
  }
  return { described: { ...(parameters && { parameters }), replies: { 200: done } } }
}

type Extras = Pick<Described, 'parameters'> & { headers?: Record<string, object> }
