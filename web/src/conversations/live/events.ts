/**
 * Reads the events of an answer (Server-Sent Events). Event ids count from the start, so a lost
 * connection resumes with `Last-Event-ID`.
 */

import { createParser } from 'eventsource-parser'
import type { Citation } from '../../api/types.ts'
import { t } from '../../language/text.ts'
import type { AnswerProblem, Source, ToolCall, Usage } from '../api.ts'

export type AnswerEvent =
  | { kind: 'message'; id: string; parentId: string | null; questionId: string | null }
  | { kind: 'token'; token: string }
  | { kind: 'reasoning'; token: string }
  | { kind: 'thought'; ms: number }
  | { kind: 'tool'; tool: ToolCall }
  | { kind: 'sources'; sources: Source[] }
  | { kind: 'citations'; citations: Citation[]; answer?: string }
  | { kind: 'title'; title: string }
  | { kind: 'usage'; usage: Usage; model: string | null }
  | { kind: 'problem'; problem: AnswerProblem }
  | { kind: 'done' }

/** Resolves to the id of the last event, and whether the answer has ended. Never throws. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: AnswerEvent) => void,
): Promise<{ lastId: string | null; hasEnded: boolean }> {
  let lastId: string | null = null
  let hasEnded = false
  const parser = createParser({
    onEvent({ id, event, data }) {
      if (hasEnded) return
      if (id !== undefined) lastId = id
      const read = parseEvent(event, data)
      if (read === null) return
      hasEnded = read.kind === 'done' || read.kind === 'problem'
      onEvent(read)
    },
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    while (!hasEnded) {
      const { done, value } = await reader.read()
      if (done) break
      parser.feed(decoder.decode(value, { stream: true }))
    }
  } catch {
    // The connection was lost; the caller resumes after `lastId`.
  } finally {
    reader.cancel().catch(() => undefined)
  }
  return { lastId, hasEnded }
}

export function parseEvent(event: string | undefined, data: string): AnswerEvent | null {
  if (data === '[DONE]') return { kind: 'done' }
  const value = parseObject(data)
  if (value === null) return null
  switch (event) {
    case undefined:
    case 'message':
      if (typeof value.token === 'string') return { kind: 'token', token: value.token }
      if (typeof value.id !== 'string') return null
      return {
        kind: 'message',
        id: value.id,
        parentId: asText(value.parent_id),
        questionId: asText(value.question_id),
      }
    case 'reasoning':
      return typeof value.token === 'string' ? { kind: 'reasoning', token: value.token } : null
    case 'thought':
      return { kind: 'thought', ms: Number(value.ms) || 0 }
    case 'tool':
      return { kind: 'tool', tool: value as ToolCall }
    case 'sources':
      return { kind: 'sources', sources: asList<Source>(value.sources) }
    case 'citations':
      return { kind: 'citations', citations: asList<Citation>(value.citations) }
    case 'title':
      return typeof value.title === 'string' ? { kind: 'title', title: value.title } : null
    case 'usage':
      return { kind: 'usage', ...readUsage(value) }
    case 'error':
      return {
        kind: 'problem',
        problem: {
          detail: asText(value.detail) ?? t('The model stopped with an error. Try again'),
          code: asText(value.code),
        },
      }
    default:
      return null
  }
}

function readUsage(value: Record<string, unknown>): { usage: Usage; model: string | null } {
  const usage = (value.usage ?? {}) as Usage
  return {
    model: asText(value.model),
    usage: {
      ...usage,
      finish_reason: asText(value.finish_reason),
      cost_usd: typeof value.cost_usd === 'number' ? value.cost_usd : null,
    },
  }
}

function parseObject(data: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function asList<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : []
}
