import type { Message } from '../api.ts'

/** A message of a conversation that only the browser holds; siblings follow from the tree. */
export type LocalMessage = Omit<Message, 'sibling_ids'>

/** Returns the branch that ends at `leafId`, oldest first, with the siblings of each message. */
export function readBranch(messages: LocalMessage[], leafId: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const branch: Message[] = []
  for (let at = leafId; at !== null; ) {
    const message = byId.get(at)
    if (message === undefined) break
    const sibling_ids = messages
      .filter((one) => one.parent_id === message.parent_id)
      .map(({ id }) => id)
    branch.unshift({ ...message, sibling_ids })
    at = message.parent_id
  }
  return branch
}

/** Returns the end of the newest branch below a message. */
export function findLeaf(messages: LocalMessage[], id: string): string {
  const newest = messages.findLast((message) => message.parent_id === id)
  return newest === undefined ? id : findLeaf(messages, newest.id)
}
