export type Message = { role: 'user' | 'assistant'; content: string }
export const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const

/** Null: the request omits the member, so the model's own default holds. */
export type Settings = {
  model: string
  system: string
  temperature: number | null
  topP: number | null
  maxTokens: number | null
  effort: (typeof EFFORTS)[number] | null
  streams: boolean
}

export const NEW_SETTINGS: Omit<Settings, 'model'> = {
  system: '',
  temperature: null,
  topP: null,
  maxTokens: null,
  effort: null,
  streams: true,
}

/** Body of `POST /v1/chat/completions`. */
export type ChatBody = {
  model: string
  messages: { role: 'system' | Message['role']; content: string }[]
  temperature?: number
  top_p?: number
  max_tokens?: number
  reasoning_effort?: string
  stream?: true
  stream_options?: { include_usage: true }
}

export function buildBody(settings: Settings, messages: readonly Message[]): ChatBody {
  const { model, system, temperature, topP, maxTokens, effort, streams } = settings
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...messages,
    ],
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(streams && { stream: true, stream_options: { include_usage: true } }),
  }
}
