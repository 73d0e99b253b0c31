/** One call of an answer to its model: streams the text and collects the calls of tools. */
import { type GatewayCall, stream } from '#ai/chat-call.ts'
import type { Gateway } from '#ai/gateway.ts'
import type { ChatMessage, ToolCall } from '#ai/vendors/chat-request.ts'
import type { AnswerChunk, FinishReason, ToolDelta } from '#ai/vendors/chunk.ts'
import type { ModelSpeeds } from './model-speeds.ts'

/** The use of all calls of an answer. */
export type Spending = {
  promptTokens: number
  completionTokens: number
  costUsd: number
  /** The vendor's name for the model of the last call; null before the first. */
  model: string | null
  finish: FinishReason | null
}

export function isIncomplete(finish: FinishReason | null): finish is 'length' | 'content_filter' {
  return finish === 'length' || finish === 'content_filter'
}

export type Round = {
  /** For the next round; has the tool calls. */
  message: ChatMessage
  calls: ToolCall[]
}

/** Receives the output of a call as it arrives. */
export type RoundOutput = {
  addText(text: string): void
  addReasoning(text: string): void
  /** Called at text and at calls of tools, also where there was no reasoning. */
  endReasoning(): void
}

/** Passes the output on as it arrives; adds to `spending`, also on failure. */
export async function runRound(
  { gateway, speeds }: { gateway: Gateway; speeds: ModelSpeeds },
  call: GatewayCall,
  spending: Spending,
  output: RoundOutput,
): Promise<Round> {
  const answer = await stream(gateway, call)
  spending.model = answer.model
  const startedMs = performance.now()
  const collected = new CollectedAnswer()
  try {
    await answer.each((chunks) => {
      for (const chunk of chunks) {
        collected.add(chunk)
        if (chunk.reasoning !== '') output.addReasoning(chunk.reasoning)
        const callsTools = chunk.tools !== null && chunk.tools.length > 0
        if (chunk.text !== '' || callsTools) output.endReasoning()
        if (chunk.text !== '') output.addText(chunk.text)
      }
    })
    spending.finish = answer.finish()
    speeds.record(call.first, answer.usage().completion, performance.now() - startedMs)
  } finally {
    const { prompt, completion } = answer.usage()
    spending.promptTokens += prompt
    spending.completionTokens += completion
    // Whole nanodollars, as in the ledger.
    spending.costUsd = Math.round((spending.costUsd + answer.costUsd()) * 1e9) / 1e9
  }
  return collected.finish()
}

class CollectedAnswer {
  #text = ''
  readonly #details: unknown[] = []
  readonly #calls = new Map<number, ToolCall>()

  add({ text, details, tools }: AnswerChunk): void {
    this.#text += text
    if (details !== null) this.#details.push(...details)
    for (const delta of tools ?? []) this.#addDelta(delta)
  }

  #addDelta({ index, id, name, arguments: more, extra_content }: ToolDelta): void {
    const call = this.#calls.get(index) ?? {
      id: '',
      type: 'function',
      function: { name: '', arguments: '' },
    }
    this.#calls.set(index, call)
    if (id !== undefined) call.id = id
    if (name !== undefined) call.function.name = name
    call.function.arguments += more
    if (extra_content !== undefined) call.extra_content = extra_content
  }

  finish(): Round {
    const calls = [...this.#calls.values()].map((call, i) => ({
      ...call,
      // Some servers of open models send no id.
      id: call.id === '' ? `call_${i}` : call.id,
    }))
    const message: ChatMessage = {
      role: 'assistant',
      content: this.#text === '' ? null : this.#text,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
    }
    return { message, calls }
  }
}
