/** Stops the answer of a conversation, on whichever node it runs. */
import { setTimeout as wait } from 'node:timers/promises'
import { findConversation } from '../conversation-store.ts'
import { listNodes } from '../message-store.ts'
import { finishAnswer, readMessage } from '../messages.ts'
import { conversationProblem } from '../problems.ts'
import type { AskDeps } from './ask.ts'

const POLL_MS = 100
/** After this time, the node that wrote the answer is taken for dead. */
const PATIENCE_MS = 3_000

/** Returns when the answer has ended; at once where none is running. @throws Problem 404 */
export async function stopAnswer(
  deps: Pick<AskDeps, 'db' | 'clock' | 'secrets' | 'answers'>,
  userId: string,
  conversationId: string,
): Promise<void> {
  if ((await findConversation(deps, userId, conversationId)) === null)
    throw conversationProblem('conversation_not_found')
  const of = { userId, conversationId }
  if (await deps.answers.stop(of)) return
  const deadlineMs = performance.now() + PATIENCE_MS
  for (;;) {
    const running = (await listNodes(deps.db, of)).find(({ outcome }) => outcome === 'running')
    if (running === undefined) return
    if (performance.now() > deadlineMs) {
      const content = await readMessage(deps, { ...of, id: running.id })
      const end = { outcome: 'stopped' as const, model: null, usage: null }
      if (content !== null) await finishAnswer(deps, { ...of, id: running.id }, { ...end, content })
      return
    }
    await wait(POLL_MS)
  }
}
