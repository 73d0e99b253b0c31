// Guards the guess at tokens where no vendor has counted them: before a call, and after one that was cut.
import type { ChatRequest } from './vendors/vendor.ts'

/** A token is about four characters of English; three leave room for code and other scripts. */
const CHARACTERS_PER_TOKEN = 4
const PROMPT_BYTES_PER_TOKEN = 3
const TOKENS_PER_MESSAGE = 8
/** What an image costs, about: OpenAI 85 to 1,100, Anthropic up to 1,600, Gemini 258 a tile. */
const TOKENS_PER_IMAGE = 1_200

export function guessTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

/** A fair guess, rather too many. */
export function promptTokens(request: ChatRequest): number {
  let bytes = 0
  let images = 0
  for (const { content, tool_calls } of request.messages) {
    if (typeof content === 'string') bytes += Buffer.byteLength(content)
    else {
      for (const part of content ?? []) {
        if (part.type === 'text') bytes += Buffer.byteLength(String(part.text ?? ''))
        else images++
      }
    }
    for (const call of tool_calls ?? []) {
      bytes +=
        call.function === undefined
          ? JSON.stringify(call).length
          : call.function.name.length + call.function.arguments.length
    }
  }
  if (request.tools) bytes += JSON.stringify(request.tools).length
  return (
    Math.ceil(bytes / PROMPT_BYTES_PER_TOKEN) + request.messages.length * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE
  )
}
