/** Conversations for tests, written as the answers write them. */
import assert from 'node:assert/strict'
import { createContent } from '#conversations/content.ts'
import { beginAnswer, finishAnswer } from '#conversations/messages.ts'
import type { Client, TestApp } from './app.ts'

export const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, cost_usd: 0.01 }
export const say = (text: string) => createContent([{ type: 'text', text }])

/** Adds a question with its answer, as the answering room does. */
export async function converse(
  app: TestApp,
  { userId }: Pick<Client, 'userId'>,
  id: string,
  parentId: string | null,
  question: string,
  answer = `Answer to ${question}`,
) {
  const begun = await begin(app, userId, id, { parentId, question })
  const key = { userId, conversationId: id, id: begun.answerId }
  const end = { outcome: 'ok' as const, model: 'test/one', usage: USAGE, content: say(answer) }
  assert.equal(await finishAnswer(app.platform, key, end), true)
  return begun
}

export function begin(
  app: TestApp,
  userId: string,
  id: string,
  {
    parentId = null,
    question = null,
    replaces = null,
  }: { parentId?: string | null; question?: string | null; replaces?: string | null },
) {
  const parts = question === null ? null : say(question).parts
  return beginAnswer(app.platform, userId, id, { parentId, parts, replaces, model: null })
}

export async function createConversation(ada: Client, body: object = {}): Promise<string> {
  const reply = await ada.post('/api/conversations', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
