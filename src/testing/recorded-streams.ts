// Streams in the vendors' own shape, for tests: with pings, unknown events, tools and characters of
// one to four bytes. `text` is the expected text.
export type RecordedStream = {
  bytes: Buffer
  text: string
  tools: { name: string; arguments: string }[]
  /** Visible reasoning. */
  reasoningText: string
  prompt: number
  completion: number
  reasoning?: number
}

const TEXT = 'Grüß Gott, 世界! 🚀 Ein “Satz”.'
const WORDS = ['Grüß ', 'Gott, ', '世', '界! ', '🚀 ', 'Ein “Satz”', '.']

function openaiChunk(delta: object, finish: string | null): string {
  return `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_795_000_000,
    model: 'gpt-6-luna-2026-09-22',
    system_fingerprint: 'fp_1',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
    obfuscation: 'x7Qp',
  })}\n\n`
}

export const OPENAI_STREAM: RecordedStream = {
  bytes: Buffer.from(
    [
      openaiChunk({ role: 'assistant', content: '', refusal: null }, null),
      ...WORDS.map((content) => openaiChunk({ content }, null)),
      openaiChunk(
        {
          tool_calls: [
            { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        },
        null,
      ),
      openaiChunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }, null),
      openaiChunk({ tool_calls: [{ index: 0, function: { arguments: '"ü"}' } }] }, null),
      openaiChunk({}, 'tool_calls'),
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        model: 'gpt-6-luna-2026-09-22',
        choices: [],
        usage: {
          prompt_tokens: 11,
          completion_tokens: 23,
          total_tokens: 34,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      })}\n\n`,
      'data: [DONE]\n\n',
    ].join(''),
  ),
  text: TEXT,
  tools: [{ name: 'f', arguments: '{"a":"ü"}' }],
  reasoningText: '',
  prompt: 11,
  completion: 23,
}

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_000_000,
  model: 'gpt-6.1-terra-2026-10-20',
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
}

export const RESPONSES_STREAM: RecordedStream = {
  bytes: Buffer.from(
    [
      named('response.created', { response: RESPONSE, sequence_number: 0 }),
      named('response.in_progress', { response: RESPONSE }),
      named('response.output_item.added', {
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_1', summary: [] },
      }),
      named('response.reasoning_summary_part.added', {
        output_index: 0,
        item_id: 'rs_1',
        summary_index: 0,
      }),
      ...['H', 'm.'].map((delta) =>
        named('response.reasoning_summary_text.delta', {
          output_index: 0,
          item_id: 'rs_1',
          summary_index: 0,
          delta,
        }),
      ),
      named('response.reasoning_summary_text.delta', {
        output_index: 0,
        item_id: 'rs_1',
        summary_index: 1,
        delta: 'So.',
      }),
      named('response.output_item.done', {
        output_index: 0,
        item: {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'Hm.' },
            { type: 'summary_text', text: 'So.' },
          ],
          encrypted_content: 'gAAAA1',
        },
      }),
      named('response.output_item.added', {
        output_index: 1,
        item: {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [],
          status: 'in_progress',
        },
      }),
      named('response.content_part.added', {
        output_index: 1,
        content_index: 0,
        part: { type: 'output_text' },
      }),
      ...WORDS.map((delta) =>
        named('response.output_text.delta', {
          output_index: 1,
          content_index: 0,
          item_id: 'msg_1',
          delta,
          logprobs: [],
        }),
      ),
      named('response.output_text.done', { output_index: 1, content_index: 0, text: TEXT }),
      named('response.some_event_of_tomorrow', { surprise: true }),
      named('response.output_item.done', {
        output_index: 1,
        item: {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: TEXT }],
        },
      }),
      named('response.output_item.added', {
        output_index: 2,
        item: {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'f',
          arguments: '',
          status: 'in_progress',
        },
      }),
      ...['{"a":', '"ü"}'].map((delta) =>
        named('response.function_call_arguments.delta', {
          output_index: 2,
          item_id: 'fc_1',
          delta,
        }),
      ),
      named('response.function_call_arguments.done', {
        output_index: 2,
        item_id: 'fc_1',
        arguments: '{"a":"ü"}',
      }),
      named('response.output_item.done', {
        output_index: 2,
        item: {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'f',
          arguments: '{"a":"ü"}',
        },
      }),
      named('response.completed', {
        response: {
          ...RESPONSE,
          status: 'completed',
          usage: {
            input_tokens: 11,
            input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
            output_tokens: 23,
            output_tokens_details: { reasoning_tokens: 7 },
            total_tokens: 34,
          },
        },
      }),
    ].join(''),
  ),
  text: TEXT,
  tools: [{ name: 'f', arguments: '{"a":"ü"}' }],
  reasoningText: 'Hm.\n\nSo.',
  prompt: 11,
  completion: 23,
  reasoning: 7,
}

function named(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
}

export const ANTHROPIC_STREAM: RecordedStream = {
  bytes: Buffer.from(
    [
      named('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-haiku-5-5',
          content: [],
          stop_reason: null,
          usage: {
            input_tokens: 7,
            cache_read_input_tokens: 4,
            cache_creation_input_tokens: 0,
            output_tokens: 1,
          },
        },
      }),
      named('ping', {}),
      named('content_block_start', {
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
      named('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'H' } }),
      named('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'm.' } }),
      named('content_block_delta', {
        index: 0,
        delta: { type: 'signature_delta', signature: 'c2lnbmVk' },
      }),
      named('content_block_stop', { index: 0 }),
      named('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
      ...WORDS.map((text) =>
        named('content_block_delta', { index: 1, delta: { type: 'text_delta', text } }),
      ),
      named('some_event_of_tomorrow', { index: 1, surprise: true }),
      ': a comment\n\n',
      named('content_block_stop', { index: 1 }),
      named('content_block_start', {
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      }),
      named('content_block_delta', {
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '' },
      }),
      named('content_block_delta', {
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '{"a":"ü' },
      }),
      named('content_block_delta', {
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '"}' },
      }),
      named('content_block_stop', { index: 2 }),
      named('message_delta', {
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 23, output_tokens_details: { thinking_tokens: 5 } },
      }),
      named('message_stop', {}),
    ].join(''),
  ),
  text: TEXT,
  tools: [{ name: 'f', arguments: '{"a":"ü"}' }],
  reasoningText: 'Hm.',
  prompt: 11,
  completion: 23,
  reasoning: 5,
}

function geminiEvent(parts: object[], more: object, finishReason?: string): string {
  const candidate = {
    content: { role: 'model', parts },
    ...(finishReason ? { finishReason } : {}),
    index: 0,
  }
  // Gemini ends its lines with CRLF.
  return `data: ${JSON.stringify({ candidates: [candidate], ...more, modelVersion: 'gemini-3.8-flash', responseId: 'r1' })}\r\n\r\n`
}

export const GEMINI_STREAM: RecordedStream = {
  bytes: Buffer.from(
    [
      geminiEvent([{ text: 'Let me think', thought: true }], {
        usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 },
      }),
      ...WORDS.map((text, index) =>
        geminiEvent([{ text }], {
          usageMetadata: { promptTokenCount: 11, candidatesTokenCount: index + 1 },
        }),
      ),
      geminiEvent(
        [{ functionCall: { name: 'f', args: { a: 'ü' } }, thoughtSignature: 'c2ln' }],
        {},
      ),
      geminiEvent(
        [{ text: '' }],
        {
          usageMetadata: {
            promptTokenCount: 11,
            candidatesTokenCount: 20,
            thoughtsTokenCount: 3,
            cachedContentTokenCount: 4,
            totalTokenCount: 34,
          },
        },
        'STOP',
      ),
    ].join(''),
  ),
  text: TEXT,
  tools: [{ name: 'f', arguments: '{"a":"ü"}' }],
  reasoningText: 'Let me think',
  prompt: 11,
  completion: 23,
  reasoning: 3,
}
