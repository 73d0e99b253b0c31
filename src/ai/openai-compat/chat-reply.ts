// Replies in OpenAI's format. OpenAI's answers pass through unchanged; others are translated.
import type { Completion, CompletionStream } from '../chat-call.ts'
import { addCost } from '../priced.ts'
import type { AnswerEncoder, StreamEncoder } from '../stream-encoder.ts'
import type { ToolCall } from '../vendors/chat-request.ts'
import type { AnswerChunk } from '../vendors/chunk.ts'
import { newId } from '../vendors/new-id.ts'
import { joinReasoningText, type ReasoningDetail } from '../vendors/reasoning.ts'
import type { Usage } from '../vendors/vendor.ts'
import { describeDelta, showTextCalls, TextCallStream } from './other-shapes.ts'

/** @param textTools tools whose calls carry plain text, see other-shapes.ts */
export function buildCompletionBody(
  { answer, model, usage, costUsd }: Completion,
  textTools: ReadonlySet<string>,
) {
  if (answer.body !== null) return convertTextCalls(addCost(answer.body, costUsd), textTools)
  return {
    id: newId('chatcmpl-'),
    object: 'chat.completion',
    created: readNowSeconds(),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text === '' && answer.toolCalls.length > 0 ? null : answer.text,
          refusal: null,
          ...buildReasoning(joinReasoningText(answer.details), answer.details),
          ...(answer.toolCalls.length > 0
            ? { tool_calls: showTextCalls(answer.toolCalls, textTools) }
            : {}),
        },
        logprobs: null,
        finish_reason: answer.finish,
      },
    ],
    usage: buildUsageBody(usage, costUsd),
  }
}

function convertTextCalls(
  body: Record<string, unknown>,
  textTools: ReadonlySet<string>,
): Record<string, unknown> {
  if (textTools.size === 0 || !Array.isArray(body.choices)) return body
  const choices = body.choices.map((choice: { message?: { tool_calls?: ToolCall[] } }) => {
    const calls = choice.message?.tool_calls
    if (!Array.isArray(calls)) return choice
    return {
      ...choice,
      message: { ...choice.message, tool_calls: showTextCalls(calls, textTools) },
    }
  })
  return { ...body, choices }
}

/** DeepSeek's member, which most clients read, and OpenRouter's, which they send back. */
function buildReasoning(reasoningText: string, details: ReasoningDetail[] | null) {
  return {
    ...(reasoningText === '' ? {} : { reasoning_content: reasoningText }),
    ...(details === null || details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function buildUsageBody(
  { prompt, completion, cached, cacheWrites, reasoning }: Usage,
  costUsd: number,
) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrites },
    ...(reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    cost_usd: costUsd,
  }
}

/** Encodes `chat.completion.chunk`s: the vendor's own, or new ones around its answer. */
export function createChunkEncoder(
  wantsUsage: boolean,
  textTools: ReadonlySet<string>,
): StreamEncoder {
  return {
    answer: (answer) => createAnswerEncoder(answer, wantsUsage, new TextCallStream(textTools)),
    failure: ({ message, alias: code }) =>
      `data: ${JSON.stringify({ error: { message, type: 'server_error', code, param: null } })}\n\n`,
  }
}

function createAnswerEncoder(
  answer: CompletionStream,
  wantsUsage: boolean,
  textCalls: TextCallStream,
): AnswerEncoder {
  const head = `data: {"id":"${newId('chatcmpl-')}","object":"chat.completion.chunk","created":${readNowSeconds()},"model":${JSON.stringify(answer.model)},`
  let isFirst = true

  const encodeDelta = (delta: object, finish: string | null) =>
    `${head}"choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`

  const buildChunk = ({ text, reasoning, details, tools, finish }: AnswerChunk): string => {
    let chunks = ''
    if (isFirst) chunks += encodeDelta({ role: 'assistant', content: '' }, null)
    isFirst = false
    if (details !== null) chunks += encodeDelta(buildReasoning(reasoning, details), null)
    if (text !== '') chunks += encodeDelta({ content: text }, null)
    if (tools !== null) {
      chunks += encodeDelta({ tool_calls: tools.map(describeDelta) }, null)
    }
    if (finish !== null) chunks += encodeDelta({}, finish)
    return chunks
  }

  return {
    batch(chunks) {
      let text = ''
      for (const chunk of chunks) {
        const shown = textCalls.show(chunk)
        text += shown.event === null ? buildChunk(shown) : `data: ${shown.event}\n\n`
      }
      return text
    },
    end: () =>
      wantsUsage
        ? `${head}"choices":[],"usage":${JSON.stringify(buildUsageBody(answer.usage(), answer.costUsd()))}}\n\n`
        : '',
  }
}

function readNowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}
