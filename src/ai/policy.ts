// The policy of all routes that call a model, and the description of their replies.
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
    description: 'US dollars, by the price list; absent in streams.',
    schema: { type: 'string' },
  },
}

/** Headers of a reply from a model. */
export const ANSWERED_HEADERS = { ...ANSWER_HEADERS, ...COST }
/** Headers of a reply that may have cost something. */
export const CHARGED_HEADERS = COST

/** Describes a reply without serializing it, so that vendors' own fields pass through. */
export function describeReply(
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
