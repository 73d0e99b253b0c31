// The origin of a call: its HTTP request and its end user. The cost of all calls of a request
// (embed the question, then answer it) is added to the header of the reply.

import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Omittable } from '#platform/http/schema.ts'
import { asObject } from '#platform/json.ts'
import { invalid } from '#platform/problems.ts'
import { formatLabels } from '#usage/labels.ts'

export type CallOrigin = {
  readonly requestId: string
  /** Empty where the caller names no end user. */
  readonly endUser: string
  /** In the ledger's format. */
  readonly labels: string
  /** The caller's limit until an answer begins; null: the operator's deadline. */
  readonly timeoutMs: number | null
  /** Returns true once the status was sent. */
  isAnswered(): boolean
  /** Adds the cost of one call to the reply's header. */
  charge(costNanos: number): void
}

const END_USER_LENGTH_MAX = 256

/** Members of a body in the product's own API. */
export const CALL_TAGS = {
  user: Omittable(
    Type.String({
      maxLength: END_USER_LENGTH_MAX,
      description: 'Your end user. `GET /api/usage?group_by=end_user` sums by this value.',
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string', maxLength: 512 },
      maxProperties: 16,
      description: 'Labels of the call, for `GET /api/usage/calls?label=name:value`.',
    }),
  ),
}

export const COST_HEADER = 'x-latchkey-cost-usd'

/**
 * `body` names the end user as OpenAI's API does (`user`, `safety_identifier`) or as Anthropic's
 * does (`metadata.user_id`), and has labels in `metadata`.
 * Ignores values that are not text, since the vendors check them.
 * @throws Problem 422 for a wrong timeout
 */
export function readOrigin(
  reply: FastifyReply,
  body: Readonly<Record<string, unknown>> = {},
): CallOrigin {
  const labels = asObject(body.metadata)
  let costNanos = 0
  return {
    requestId: reply.request.id,
    endUser: readEndUser(body.user ?? body.safety_identifier ?? labels?.user_id),
    labels: labels === null ? '' : formatLabels(labels),
    timeoutMs: readTimeout(reply.request.headers[TIMEOUT_HEADER]),
    isAnswered: () => reply.raw.headersSent,
    charge(nanos) {
      costNanos += nanos
      if (!reply.raw.headersSent) reply.header(COST_HEADER, formatDollars(costNanos))
    },
  }
}

const TIMEOUT_HEADER = 'x-latchkey-timeout'

/** The header in the API description. */
export const timeoutParameter = {
  name: 'X-Latchkey-Timeout',
  in: 'header' as const,
  description:
    'Milliseconds until an answer must begin, over all attempts. After this time, the reply is 504 and lists the attempts. The operator’s deadline applies as well.',
  schema: { type: 'integer', minimum: 1 },
}

/** @throws Problem 422 */
function readTimeout(value: string | string[] | undefined): number | null {
  if (value === undefined) return null
  if (typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value)) return Number(value)
  throw invalid(['header', TIMEOUT_HEADER], 'Should be a number of milliseconds, from 1')
}

/** Shortens a long name by a digest, so that no two collide. PostgreSQL stores no NUL. */
function readEndUser(value: unknown): string {
  if (typeof value !== 'string') return ''
  const name = value.includes('\0') ? value.replaceAll('\0', '') : value
  if (name.length <= END_USER_LENGTH_MAX) return name
  const digest = createHash('sha256').update(name).digest('hex')
  return `${name.slice(0, END_USER_LENGTH_MAX - digest.length - 1).toWellFormed()}~${digest}`
}

/** Writes `0.00015`: without an exponent and without trailing zeroes. */
export function formatDollars(nanos: number): string {
  const text = (nanos / 1e9).toFixed(9)
  let end = text.length
  while (text.charCodeAt(end - 1) === 48) end--
  if (text.charCodeAt(end - 1) === 46) end--
  return text.slice(0, end)
}
