// The frozen copy behind a link: the texts of one branch, and only the cited sentences of its
// sources. Later changes of the conversation do not reach it.
import { joinText } from '../content.ts'
import type { StoreDeps } from '../conversation-store.ts'
import { type OwnedMessage, streamMessages } from '../message-groups.ts'
import { listNodes } from '../message-store.ts'
import { conversationProblem } from '../problems.ts'
import type { Role } from '../tables.ts'
import { MessageTree } from '../tree.ts'

export type FrozenMessage = {
  role: Role
  text: string
  model: string | null
  created_at: string
  /** The number of images and documents, which are not shared. */
  attachments: number
  /** The cited sources only; `number` is that of the marks in the text. */
  sources: { number: number; name: string; page: number | null }[]
  citations: {
    source: number
    start: number
    end: number
    quote: { text: string; page: number | null }
  }[]
}
export type Frozen = { title: string; messages: FrozenMessage[] }

const SHARE_MEGABYTES_MAX = 5

/** @throws Problem 404 message_not_found; 409 answer_running; 413 share_too_large */
export async function freezeBranch(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  { id: conversationId, title }: { id: string; title: string },
  { leafId, withSources }: { leafId: string; withSources: boolean },
): Promise<Frozen> {
  const nodes = await listNodes(deps.db, { userId, conversationId })
  const branch = new MessageTree(nodes).listBranch(leafId)
  if (branch.length === 0) throw conversationProblem('message_not_found')
  if (branch.some(({ outcome }) => outcome === 'running'))
    throw conversationProblem('answer_running')
  const sized = branch.map(({ id, bytes }) => ({ conversation_id: conversationId, id, bytes }))
  const messages: FrozenMessage[] = []
  let characters = 0
  for await (const message of streamMessages(deps, userId, sized)) {
    const frozen = freezeMessage(message, withSources)
    characters += JSON.stringify(frozen).length
    if (characters > SHARE_MEGABYTES_MAX * 1024 * 1024)
      throw conversationProblem('share_too_large', { max: SHARE_MEGABYTES_MAX })
    messages.push(frozen)
  }
  return { title, messages }
}

function freezeMessage(message: OwnedMessage, withSources: boolean): FrozenMessage {
  const { role, model, created_at, parts } = message
  const text = joinText(message)
  const citations = withSources ? freezeCitations(message) : []
  const numbers = [...new Set(citations.map(({ source }) => source))].sort((a, b) => a - b)
  return {
    role,
    text: withSources || message.citations.length === 0 ? text : removeMarks(text),
    model,
    created_at,
    attachments: parts.filter(({ type }) => type !== 'text').length,
    sources: numbers.flatMap((number) => {
      const source = message.sources[number - 1]
      return source ? [{ number, name: source.name, page: source.page }] : []
    }),
    citations,
  }
}

function freezeCitations({ citations }: OwnedMessage): FrozenMessage['citations'] {
  return citations.flatMap(({ source, start, end, supported, quote }) =>
    supported && quote !== null
      ? [{ source, start, end, quote: { text: quote.text, page: quote.page } }]
      : [],
  )
}

/** Removes `[2]` and `[2, 3]`, which name sources. */
export function removeMarks(text: string): string {
  return text.replaceAll(/ ?\[\d{1,3}(?:, ?\d{1,3})*\](?![(:])/g, '')
}
