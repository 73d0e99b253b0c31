// Conversations in this browser. Changes address stored turns by id, so two tabs can write to one
// conversation.
import { createBrowserList } from '../components/browser-list.ts'
import type { Conversation, Turn } from './conversation.ts'

const conversations = createBrowserList<Conversation>('conversations', 40)
const NO_TURNS: Turn[] = []

export const useConversations = conversations.use

/** Returns the turns of a conversation; empty when it is not stored. */
export function useTurns(userId: string, id: string): Turn[] {
  return conversations.use(userId).find((conversation) => conversation.id === id)?.turns ?? NO_TURNS
}

/** Changes the turns of a conversation, creates it if needed, and moves it to the top. */
export function updateTurns(userId: string, id: string, change: (stored: Turn[]) => Turn[]): void {
  conversations.update(userId, (stored) => {
    const turns = change(stored.find((conversation) => conversation.id === id)?.turns ?? [])
    return [
      { id, updatedAt: new Date().toISOString(), turns },
      ...stored.filter((one) => one.id !== id),
    ]
  })
}

/** Stores a finished answer, unless its conversation or question was deleted meanwhile. */
export function saveAnswer(userId: string, id: string, answer: Turn): void {
  const stored = conversations.read(userId).find((conversation) => conversation.id === id)
  if (!stored?.turns.some((turn) => turn.id === answer.id)) return
  updateTurns(userId, id, (turns) => replaceTurn(turns, answer))
}

export function deleteConversation(userId: string, id: string): void {
  conversations.update(userId, (stored) => stored.filter((conversation) => conversation.id !== id))
}

export function deleteAllConversations(userId: string): void {
  conversations.update(userId, () => [])
}

/** Returns the turns with the turn of the same id replaced. */
export function replaceTurn(turns: Turn[], turn: Turn): Turn[] {
  return turns.map((one) => (one.id === turn.id ? turn : one))
}
