import { createBrowserList } from '../../components/browser-list.ts'
import type { LocalConversation } from './conversation-list.ts'
import { inBrowser } from './local-conversations.ts'
import type { LocalMessage } from './tree.ts'

/** Conversations of Chat and questions of Ask, which earlier versions kept in the browser. */
type OldTurn = { id: string; role: 'user' | 'assistant'; content: string }
type OldConversation = { id: string; updatedAt: string; turns: OldTurn[] }
type OldQuestion = { id: string; text: string; answer: string }

const oldConversations = createBrowserList<OldConversation>('conversations', 40)
const oldQuestions = createBrowserList<OldQuestion>('questions', 20)

type ExportedMessage = Pick<LocalMessage, 'id' | 'parent_id' | 'role' | 'parts'>
export type ExportedConversation = Omit<LocalConversation, 'messages'> & {
  messages: ExportedMessage[]
}

export function useBrowserConversations(userId: string): number {
  return (
    inBrowser.use(userId).length +
    oldConversations.use(userId).length +
    Math.min(1, oldQuestions.use(userId).length)
  )
}

/** Returns what this browser keeps, in the format of the export. */
export async function exportBrowser(userId: string): Promise<ExportedConversation[]> {
  const questions = oldQuestions.read(userId).toReversed()
  const old = oldConversations
    .read(userId)
    .map(({ id, updatedAt, turns }) => chain(id, updatedAt, turns))
  const asked = questions.flatMap(({ id, text, answer }): OldTurn[] => [
    { id, role: 'user', content: text },
    { id: `${id}-answer`, role: 'assistant', content: answer },
  ])
  return [
    ...(await inBrowser.load(userId)),
    ...old,
    ...(asked.length > 0
      ? [chain(`questions-${asked[0]?.id}`, new Date().toISOString(), asked)]
      : []),
  ].filter(({ messages }) => messages.length > 0)
}

export function deleteBrowserConversations(userId: string): void {
  inBrowser.update(userId, () => [])
  oldConversations.update(userId, () => [])
  oldQuestions.update(userId, () => [])
}

function chain(id: string, updated_at: string, turns: OldTurn[]): ExportedConversation {
  const written = turns.filter(({ content }) => content.trim() !== '')
  const messages = written.map(
    ({ id, role, content }, at): ExportedMessage => ({
      id,
      parent_id: written[at - 1]?.id ?? null,
      role,
      parts: [{ type: 'text', text: content }],
    }),
  )
  const title = written[0]?.content.trim().split('\n')[0]?.slice(0, 60) ?? ''
  return { id, title, updated_at, leaf_id: messages.at(-1)?.id ?? null, messages }
}
