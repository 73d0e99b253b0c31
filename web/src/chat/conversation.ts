import type { Ending } from '../stream/stream.ts'

/** `ending` is missing while an answer is being written. */
export type Turn = { id: string; role: 'user' | 'assistant'; content: string; ending?: Ending }
export type Conversation = { id: string; updatedAt: string; turns: Turn[] }

export type ChatSettings = {
  provider: string | undefined
  model: string | undefined
  temperature: number
  maxTokens: number
  instructions: string
}

/** The first line of the first question. */
export function titleOf({ turns }: Conversation): string {
  const line =
    turns
      .find((turn) => turn.role === 'user')
      ?.content.trim()
      .split('\n')[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || 'Empty conversation'
}

/**
 * The request body for an answer to `turns`. Answers that stayed empty are left out, since vendors refuse empty messages;
 * two questions in a row are fine with all of them.
 */
export function chatBody(turns: Turn[], settings: ChatSettings) {
  const messages = turns
    .filter((turn) => turn.content.trim() !== '')
    .map(({ role, content }): { role: string; content: string } => ({ role, content }))
  const instructions = settings.instructions.trim()
  if (instructions) messages.unshift({ role: 'system', content: instructions })

  return {
    messages,
    temperature: settings.temperature,
    max_tokens: settings.maxTokens,
    ...(settings.provider && { provider: settings.provider }),
    ...(settings.model && { model: settings.model }),
  }
}

/** The turns up to and including the last question: what a retry answers again. */
export function upToLastQuestion(turns: Turn[]): Turn[] {
  return turns.slice(0, turns.findLastIndex((turn) => turn.role === 'user') + 1)
}

/** The turns with the question `id` replaced and everything after it gone. */
export function rewritten(turns: Turn[], id: string, content: string): Turn[] {
  const at = turns.findIndex((turn) => turn.id === id)
  const turn = turns[at]
  return turn ? [...turns.slice(0, at), { ...turn, content }] : turns
}
