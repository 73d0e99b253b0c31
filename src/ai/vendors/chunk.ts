// One event of a vendor's stream. All chunks have the same members, so that V8 uses one hidden
// class.
import type { ToolCall } from './chat-request.ts'
import type { ReasoningDetail } from './reasoning.ts'

/** OpenAI's words; the other vendors' stop reasons are translated into them. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type ToolDelta = {
  index: number
  id?: string
  name?: string
  arguments: string
  extra_content?: ToolCall['extra_content']
}

export type AnswerChunk = {
  text: string
  /** Visible reasoning. */
  reasoning: string
  /** The same as a client must give it back, and what it cannot read of it. */
  details: ReasoningDetail[] | null
  tools: ToolDelta[] | null
  finish: FinishReason | null
  /** Where the vendor already speaks the client's format: the event's own JSON, or of a stream that passes whole events' lines. */
  event: string | null
}

/** Of all that it says: what it is billed by, where nobody counts. */
export function countCharacters({ text, reasoning, tools }: AnswerChunk): number {
  let characters = text.length + reasoning.length
  if (tools !== null)
    for (const tool of tools) characters += (tool.name?.length ?? 0) + tool.arguments.length
  return characters
}

export function createTextChunk(text: string): AnswerChunk {
  return { text, reasoning: '', details: null, tools: null, finish: null, event: null }
}

export function createReasoningChunk(reasoning: string, detail: ReasoningDetail): AnswerChunk {
  return { text: '', reasoning, details: [detail], tools: null, finish: null, event: null }
}

export function createToolChunk(delta: ToolDelta): AnswerChunk {
  return { text: '', reasoning: '', details: null, tools: [delta], finish: null, event: null }
}

export function createFinishChunk(finish: FinishReason): AnswerChunk {
  return { text: '', reasoning: '', details: null, tools: null, finish, event: null }
}
