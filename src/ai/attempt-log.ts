/** What a call has asked, of whom, and with what result: filled while it tries, read by the reply's headers and the ledger. */
import type { Route } from '#models/catalogue.ts'
import type { Span } from '#platform/telemetry/tracer.ts'

export type AttemptLog = {
  attempts: number
  /** As the ledger tells them: `openai:limited`, `openai:resting`, `anthropic:ok`, `cut`. */
  steps: string[]
  /** Asked last. */
  vendor: string | null
  model: string | null
  /** What the vendor that was asked last calls the request; its support asks for it. */
  vendorRequestId: string | null
  /** Who took the request and never answered: each has read the prompt, and bills it. */
  unanswered: (Route & { promptTokens: number })[]
  /** The prompt's, as they are guessed before anybody has counted them. */
  promptTokens: number
  /** What each request to a vendor is part of, where calls are traced. */
  span: Span | null
}

/** The step of a route that was passed over because its circuit is open. */
export const PASSED_OVER = 'resting'

/** Response headers that say who answered, and after how many attempts. */
export type AnswerHeaders = { 'x-latchkey-vendor': string; 'x-latchkey-attempts': string }

export function newAttemptLog(promptTokens = 0, span: Span | null = null): AttemptLog {
  return {
    attempts: 0,
    steps: [],
    vendor: null,
    model: null,
    vendorRequestId: null,
    unanswered: [],
    promptTokens,
    span,
  }
}

export function answerHeaders({ vendor, attempts }: AttemptLog): AnswerHeaders {
  return { 'x-latchkey-vendor': vendor ?? '', 'x-latchkey-attempts': String(attempts) }
}

/** A long text is embedded in many requests: those that went well one after the other are told once. */
export function joinedSteps({ steps }: AttemptLog): string {
  if (steps.length < 2) return steps[0] ?? ''
  return steps.filter((step, index) => !(step.endsWith(':ok') && step === steps[index - 1])).join(',')
}
