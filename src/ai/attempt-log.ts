/** The requests and results of one call, for the reply's headers and the ledger. */
import type { Route } from '#models/catalogue.ts'
import type { Span } from '#platform/telemetry/tracer.ts'

export type AttemptLog = {
  attempts: number
  /** As the ledger writes them: `openai:limited`, `openai:resting`, `anthropic:ok`, `cut`. */
  steps: string[]
  /** The vendor of the latest request. */
  vendor: string | null
  model: string | null
  /** The vendor's id of the latest request; the vendor's support asks for it. */
  vendorRequestId: string | null
  /** Members that were not sent with the latest request. */
  leftOut: readonly string[]
  /** Vendors that read the request and never answered; they bill the prompt. */
  unanswered: (Route & { promptTokens: number })[]
  /** An estimate, used until a vendor has counted the prompt. */
  promptTokens: number
  /** The parent of the requests' spans; null without tracing. */
  span: Span | null
}

/** The step of a route that was skipped because its circuit is open. */
export const SKIPPED = 'resting'

/** Response headers that name the vendor that answered and the number of attempts. */
export type AnswerHeaders = {
  'x-latchkey-vendor': string
  'x-latchkey-attempts': string
  'x-latchkey-left-out'?: string
}

/** The same headers in the API description. */
export const ANSWER_HEADERS = {
  'X-Latchkey-Vendor': { description: 'The vendor that answered.', schema: { type: 'string' } },
  'X-Latchkey-Attempts': {
    description: 'The number of requests to vendors, including failed ones.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'X-Latchkey-Left-Out': {
    description:
      'Members of the request that were dropped because this model does not support them, as in `logprobs,seed`. Absent without any, and in a stream that was opened before its answer began.',
    schema: { type: 'string' },
  },
}

export function createAttemptLog(promptTokens = 0, span: Span | null = null): AttemptLog {
  return {
    attempts: 0,
    steps: [],
    vendor: null,
    model: null,
    vendorRequestId: null,
    leftOut: [],
    unanswered: [],
    promptTokens,
    span,
  }
}

export function buildAnswerHeaders({ vendor, attempts, leftOut }: AttemptLog): AnswerHeaders {
  // Names come from callers; names that no header may contain are omitted.
  const names = leftOut.filter((name) => NAME.test(name)).slice(0, NAMES_MAX)
  return {
    'x-latchkey-vendor': vendor ?? '',
    'x-latchkey-attempts': String(attempts),
    ...(names.length > 0 ? { 'x-latchkey-left-out': names.join(',') } : {}),
  }
}

const NAME = /^[\w.-]{1,64}$/
const NAMES_MAX = 20

/** Embedding a long text takes many requests: consecutive successes count as one step. */
export function joinSteps({ steps }: AttemptLog): string {
  if (steps.length < 2) return steps[0] ?? ''
  return steps
    .filter((step, index) => !(step.endsWith(':ok') && step === steps[index - 1]))
    .join(',')
}
