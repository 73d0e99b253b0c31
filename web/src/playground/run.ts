// The state of one request of the playground, and how each event of the reply changes it.
import { t } from '../language/text.ts'
import type { ChatBody } from './request.ts'

export type RunEvent = { atMs: number; data: string }
export type RunProblem = { status: number | null; code: string | null; message: string }
export type Run = {
  body: ChatBody
  phase: 'running' | 'done' | 'failed' | 'stopped'
  text: string
  reasoning: string
  /** The data of each event as received; of a whole answer, its body. */
  events: RunEvent[]
  firstTokenMs: number | null
  totalMs: number | null
  usage: Usage | null
  finish: string | null
  requestId: string | null
  /** Members that the model does not support. */
  leftOut: string | null
  problem: RunProblem | null
}
type Usage = { prompt_tokens: number; completion_tokens: number; cost_usd: number }

type Delta = { content?: string | null; reasoning_content?: string | null }
type Choice = { delta?: Delta; message?: Delta; finish_reason?: string | null }
type Chunk = { choices?: Choice[]; usage?: Usage | null; error?: Failure }
type Failure = { message?: string; code?: string | null; type?: string }

export const LOST: RunProblem = {
  status: null,
  code: null,
  message: t('The connection was lost. Send it again.'),
}

export function createRun(body: ChatBody): Run {
  return {
    body,
    phase: 'running',
    text: '',
    reasoning: '',
    events: [],
    firstTokenMs: null,
    totalMs: null,
    usage: null,
    finish: null,
    requestId: null,
    leftOut: null,
    problem: null,
  }
}

/** Adds one event of a stream, or a whole answer. */
export function takeEvent(run: Run, data: string, atMs: number): Run {
  const next = { ...run, events: [...run.events, { atMs, data }] }
  const chunk = parseChunk(data)
  if (chunk === null) return next
  if (chunk.error) return { ...next, problem: readFailure(chunk.error) }
  const choice = chunk.choices?.[0]
  const { content, reasoning_content: reasoning } = choice?.delta ?? choice?.message ?? {}
  return {
    ...next,
    text: run.text + (content ?? ''),
    reasoning: run.reasoning + (reasoning ?? ''),
    firstTokenMs: run.firstTokenMs ?? (content || reasoning ? atMs : null),
    usage: chunk.usage ?? run.usage,
    finish: choice?.finish_reason ?? run.finish,
  }
}

/** Ends a run whose reply has ended. */
export function endRun(run: Run, totalMs: number): Run {
  if (run.problem !== null) return { ...run, phase: 'failed', totalMs }
  const isComplete = !run.body.stream || run.events.at(-1)?.data === '[DONE]'
  return isComplete
    ? { ...run, phase: 'done', totalMs }
    : { ...run, phase: 'failed', totalMs, problem: LOST }
}

function readFailure({ message, code, type }: Failure): RunProblem {
  return { status: null, code: code ?? type ?? null, message: message ?? t('The model failed.') }
}

function parseChunk(data: string): Chunk | null {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? (value as Chunk) : null
  } catch {
    return null
  }
}
