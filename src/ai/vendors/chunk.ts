// One event of a vendor's stream. All have the same members, so that V8 uses one hidden class.
import type { ToolCall } from './chat-request.ts'
import type { ReasoningDetail } from './reasoning.ts'

/** OpenAI's finish reasons; other vendors' reasons are translated. */
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
  /** The reasoning in the form that the client must send back, including encrypted parts. */
  details: ReasoningDetail[] | null
  tools: ToolDelta[] | null
  finish: FinishReason | null
  /** The event's JSON in the client's format; for passed streams, the lines of events. */
  event: string | null
}

/** Counts the billable characters of a chunk, for vendors that report no usage. */
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
