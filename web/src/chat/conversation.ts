import type { ChatRequest } from '../api/types.ts'
import type { Ending } from '../stream/stream.ts'
import type { ChosenModel } from './chosen-model.ts'

/** `ending` is undefined while the answer is written. */
export type Turn = { id: string; role: 'user' | 'assistant'; content: string; ending?: Ending }
export type Conversation = { id: string; updatedAt: string; turns: Turn[] }

/** `maxTokens` null: the model's limit. */
export type GenerationSettings = {
  temperature: number
  maxTokens: number | null
  instructions: string
}
export type ChatSettings = GenerationSettings & Omit<ChosenModel, 'otherProviders'>

/** Returns the first line of the first question. */
export function buildTitle({ turns }: Conversation): string {
  const line =
    turns
      .find((turn) => turn.role === 'user')
      ?.content.trim()
      .split('\n')[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || 'Empty conversation'
}

/** Hidden user message: several models reject a conversation that ends with their own message. */
const CONTINUE_PROMPT =
  'Your last answer broke off. Go on exactly where it stopped, in the middle of the word if need be. Repeat nothing, and add no introduction.'

/**
 * Builds the request for an answer to `turns`, or with `continuing` for the rest of the last one.
 * Empty answers are left out, because vendors reject empty messages.
 */
export function buildChatRequest(
  turns: Turn[],
  settings: ChatSettings,
  { continuing = false } = {},
) {
  const messages = turns
    .filter((turn) => turn.content.trim() !== '')
    .map(({ role, content }): ChatRequest['messages'][number] => ({ role, content }))
  if (continuing) messages.push({ role: 'user', content: CONTINUE_PROMPT })
  const instructions = settings.instructions.trim()
  if (instructions) messages.unshift({ role: 'system', content: instructions })

  const maxTokens = settings.maxTokens ?? settings.modelMaxTokens
  return {
    messages,
    include_usage: true,
    temperature: settings.temperature,
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    // A link may name an unknown provider; the service rejects it.
    ...(settings.provider && {
      provider: settings.provider as NonNullable<ChatRequest['provider']>,
    }),
    ...(settings.model && { model: settings.model }),
  }
}

/** Returns whether the last turn is an incomplete answer with some text. */
export function canContinue(turns: Turn[]): boolean {
  const last = turns.at(-1)
  if (last?.role !== 'assistant' || last.content.trim() === '' || last.ending === undefined)
    return false
  return last.ending.kind !== 'complete' && last.ending.kind !== 'withheld'
}

/** Returns the turns up to the last question, for a retry. */
export function cutAfterLastQuestion(turns: Turn[]): Turn[] {
  return turns.slice(0, turns.findLastIndex((turn) => turn.role === 'user') + 1)
}

/** Returns the turns with the question `id` replaced and later turns removed. */
export function rewriteQuestion(turns: Turn[], id: string, content: string): Turn[] {
  const at = turns.findIndex((turn) => turn.id === id)
  const turn = turns[at]
  return turn ? [...turns.slice(0, at), { ...turn, content }] : turns
}
