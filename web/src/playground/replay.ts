// Replays a call: its request from this browser, or, since the service stores no prompts, the parameters of the call.
import type { Call } from '../api/types.ts'
import { createBrowserList } from '../components/browser-list.ts'
import { type ChatBody, EFFORTS, type Message, NEW_SETTINGS, type Settings } from './request.ts'

type SentRequest = { id: string; body: ChatBody }

const sentRequests = createBrowserList<SentRequest>('playground', 20)
/** Conversations and drafts share the storage of about 5 MB. */
const CHARACTERS_MAX = 50_000

/** Keeps a request in this browser until its user signs out. Skips long ones. */
export function rememberRequest(userId: string, id: string, body: ChatBody): void {
  if (JSON.stringify(body).length > CHARACTERS_MAX) return
  sentRequests.update(userId, (stored) => [{ id, body }, ...stored])
}

/** The first state of the playground. */
export type Start = {
  model: string | null
  settings: Omit<Settings, 'model'>
  messages: Message[]
}

export const EMPTY_START: Start = { model: null, settings: NEW_SETTINGS, messages: [] }

/** `isWhole`: the messages of the call are known. */
export type Replay = { start: Start; isWhole: boolean }

export function findReplay(userId: string, call: Call): Replay {
  const sent = sentRequests.read(userId).find(({ id }) => id === call.request_id)
  return sent === undefined
    ? { start: readCall(call), isWhole: false }
    : { start: readBody(sent.body), isWhole: true }
}

export function readBody(body: ChatBody): Start {
  const isSystem = ({ role }: ChatBody['messages'][number]) => role === 'system'
  return {
    model: body.model,
    settings: {
      system: body.messages.find(isSystem)?.content ?? '',
      temperature: body.temperature ?? null,
      topP: body.top_p ?? null,
      maxTokens: body.max_tokens ?? null,
      effort: readEffort(body.reasoning_effort),
      streams: body.stream ?? false,
    },
    messages: body.messages.filter((message): message is Message => message.role !== 'system'),
  }
}

export function readCall({ vendor, model, parameters }: Call): Start {
  return {
    model: vendor ? `${vendor}/${model}` : model,
    settings: {
      ...NEW_SETTINGS,
      temperature: parameters?.temperature ?? null,
      topP: parameters?.top_p ?? null,
      maxTokens: parameters?.max_tokens ?? null,
      effort: readEffort(parameters?.reasoning_effort),
      streams: parameters?.stream ?? true,
    },
    messages: [],
  }
}

/** Some models know further efforts, which the playground does not offer. */
function readEffort(effort: string | undefined): Settings['effort'] {
  return EFFORTS.find((one) => one === effort) ?? null
}
