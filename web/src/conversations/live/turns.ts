import { t } from '../../language/text.ts'
import type { Message, Source } from '../api.ts'
import type { LiveAnswer, LiveState } from './live-answer.ts'
import { liveAnswers } from './live-answers.ts'

/** One message on the page. `live` is set while it is written. */
export type Turn = { key: string; message: Message; live: LiveAnswer | null }

/** Returns the turns: the stored messages, with the question and answer in progress at their place. */
export function composeTurns(messages: Message[], live: LiveAnswer | null): Turn[] {
  const stored = (list: Message[]) =>
    list.map((message) => ({ key: liveAnswers.findKey(message.id), message, live: null }))
  if (live === null) return stored(messages)
  const { afterId, question, questionId, key } = live.state
  const at = afterId === null ? 0 : messages.findIndex(({ id }) => id === afterId) + 1
  const turns: Turn[] = stored(messages.slice(0, at))
  if (question !== null) {
    const id = questionId ?? `${key} question`
    const asked = messages.find((message) => message.id === id)
    turns.push({
      key: `${key} question`,
      message: asked ?? { ...createMessage(id, 'user', afterId), parts: question },
      live: null,
    })
  }
  turns.push({ key: `${key} answer`, message: createAnswer(live.state), live })
  return turns
}

/** Returns true when the stored messages contain the whole answer. */
export function isStored(messages: Message[], { answerId, outcome }: LiveState): boolean {
  return (
    outcome !== 'running' &&
    answerId !== null &&
    messages.some((message) => message.id === answerId && message.outcome !== 'running')
  )
}

/** Returns true when the service stored the question before the connection was lost. */
export function isQuestionStored(
  messages: Message[],
  knownIds: ReadonlySet<string>,
  { answerId, afterId, question }: LiveState,
): boolean {
  if (answerId !== null || question === null) return false
  const next = messages[messages.findIndex(({ id }) => id === afterId) + 1]
  // A question that is sent again unchanged has the same text as the known one.
  return (
    next?.role === 'user' &&
    !knownIds.has(next.id) &&
    readText(next) === readText({ parts: question })
  )
}

export function createAnswer(state: LiveState): Message {
  const id = state.answerId ?? `${state.key} answer`
  return {
    ...createMessage(id, 'assistant', state.questionId ?? state.afterId),
    parts: [{ type: 'text', text: state.text }],
    model: state.model,
    outcome: state.outcome,
    problem: state.problem,
    usage: state.usage,
    sources: state.sources,
    citations: state.citations,
    tools: state.tools,
    reasoning: state.reasoning,
  }
}

/** Returns a message without content. */
export function createMessage(
  id: string,
  role: Message['role'],
  parent_id: string | null,
): Message {
  return {
    id,
    parent_id,
    role,
    parts: [],
    model: null,
    outcome: 'ok',
    usage: null,
    sources: [],
    citations: [],
    tools: [],
    reasoning: null,
    sibling_ids: [id],
    created_at: new Date().toISOString(),
  }
}

/** Pasted text has no name. */
export function nameSource({ name }: Pick<Source, 'name'>): string {
  return name || t('Pasted text')
}

/** Returns the text of a message. */
export function readText({ parts }: Pick<Message, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}
