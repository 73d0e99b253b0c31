import type { ChatRequest } from '../api/types.ts'
import type { Ending } from '../stream/stream.ts'
import type { ChosenModel } from './chosen-model.ts'

/** `ending` is missing while an answer is being written. */
export type Turn = { id: string; role: 'user' | 'assistant'; content: string; ending?: Ending }
export type Conversation = { id: string; updatedAt: string; turns: Turn[] }

/** `maxTokens` null: as long as the model can. */
export type GenerationSettings = {
  temperature: number
  maxTokens: number | null
  instructions: string
}
export type ChatSettings = GenerationSettings & Omit<ChosenModel, 'otherProviders'>

/** The first line of the first question. */
export function buildTitle({ turns }: Conversation): string {
  const line =
    turns
      .find((turn) => turn.role === 'user')
      ?.content.trim()
      .split('\n')[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || 'Empty conversation'
}

/** Said to the model alone. A message of the reader's, because several models refuse a conversation that ends in their own words. */
const CONTINUE_PROMPT =
  'Your last answer broke off. Go on exactly where it stopped, in the middle of the word if need be. Repeat nothing, and add no introduction.'

/**
 * The request body for an answer to `turns`, or with `continuing` for the rest of the last one. Answers that stayed empty are
 * left out, since vendors refuse empty messages; two questions in a row are fine with all of them.
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
    // A link may name another: the service says so.
    ...(settings.provider && {
      provider: settings.provider as NonNullable<ChatRequest['provider']>,
    }),
    ...(settings.model && { model: settings.model }),
  }
}

/** Whether the last turn is an answer that has begun and is not whole. */
export function canContinue(turns: Turn[]): boolean {
  const last = turns.at(-1)
  if (last?.role !== 'assistant' || last.content.trim() === '' || last.ending === undefined)
    return false
  return last.ending.kind !== 'complete' && last.ending.kind !== 'withheld'
}

/** The turns up to and including the last question: what a retry answers again. */
export function cutAfterLastQuestion(turns: Turn[]): Turn[] {
  return turns.slice(0, turns.findLastIndex((turn) => turn.role === 'user') + 1)
}

/** The turns with the question `id` replaced and everything after it gone. */
export function rewriteQuestion(turns: Turn[], id: string, content: string): Turn[] {
  const at = turns.findIndex((turn) => turn.id === id)
  const turn = turns[at]
  return turn ? [...turns.slice(0, at), { ...turn, content }] : turns
}
