/** Gemini's generateContent, played by the sandbox: https://ai.google.dev/api/generate-content */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Message } from './extract.ts'
import { type Embed, embedded } from './model-embeddings.ts'
import {
  asArray,
  asObject,
  type Json,
  readLimit,
  readStops,
  readText,
  textOr,
} from './model-json.ts'
import { type ModelReply, type Wish, writeReply } from './model-reply.ts'
import { paced, streamEvents } from './model-stream.ts'
import { OPEN } from './route.ts'

const BODY_BYTES_MAX = 32 * 1024 * 1024

export function geminiRoutes(app: FastifyInstance, { embed }: { embed: Embed }): void {
  for (const version of ['v1', 'v1beta']) {
    app.get(`/gemini/${version}/models`, OPEN, () => ({
      models: [
        {
          name: 'models/gemini-sandbox',
          displayName: 'Gemini (sandbox)',
          supportedGenerationMethods: ['generateContent'],
        },
      ],
    }))

    // The method follows a colon, which marks a parameter here.
    app.post<{ Params: { '*': string }; Querystring: { alt?: string; key?: string } }>(
      `/gemini/${version}/models/*`,
      { ...OPEN, bodyLimit: BODY_BYTES_MAX },
      async (request, reply) => {
        const [, model = '', method = ''] = /^(.*):(\w+)$/.exec(request.params['*']) ?? []
        if (!request.headers['x-goog-api-key'] && !request.query.key)
          return refuse(
            reply,
            403,
            'PERMISSION_DENIED',
            'Method doesn’t allow unregistered callers. Please use an API key.',
          )
        const body = asObject(request.body)
        if (/^(embedContent|batchEmbedContents)$/.test(method))
          return embeddings(embed, model, method, body, reply)
        if (!/^(generateContent|streamGenerateContent|countTokens)$/.test(method))
          return refuse(reply, 404, 'NOT_FOUND', `There is no method '${method}' of a model here`)
        if (asArray(body.contents).length === 0)
          return refuse(
            reply,
            400,
            'INVALID_ARGUMENT',
            '* GenerateContentRequest.contents: contents is not specified',
          )

        const answer = writeReply(readWish(body))
        if (method === 'countTokens') return { totalTokens: answer.promptTokens }
        const head = {
          modelVersion: model,
          responseId: `sandbox-${randomBytes(9).toString('hex')}`,
        }
        if (method === 'streamGenerateContent')
          return stream(reply, head, answer, request.query.alt === 'sse')
        return {
          ...toBody(toParts(answer), toFinishReason(answer)),
          usageMetadata: toUsage(answer),
          ...head,
        }
      },
    )
  }
}

async function embeddings(
  embed: Embed,
  model: string,
  method: string,
  wanted: Json,
  reply: FastifyReply,
) {
  if (!/embed/.test(model))
    return refuse(reply, 404, 'NOT_FOUND', `models/${model} is not supported for ${method}`)
  const requests = method === 'embedContent' ? [wanted] : asArray(wanted.requests)
  if (requests.length === 0)
    return refuse(reply, 400, 'INVALID_ARGUMENT', '* requests: requests is not specified')
  const texts = requests.map(({ content }) => readText(asObject(content).parts))
  const { vectors } = await embedded(embed, model, texts, requests[0]?.outputDimensionality)
  const values = vectors.map((vector) => ({ values: vector }))
  return method === 'embedContent' ? { embedding: values[0] } : { embeddings: values }
}

function readWish(wanted: Json): Wish {
  const turns = asArray(wanted.contents)
  const system = readText(asObject(wanted.systemInstruction ?? wanted.system_instruction).parts)
  const last = turns.findLastIndex(
    (turn) => turn.role !== 'model' && listToolResults(turn).length === 0,
  )
  const results = listToolResults(turns.at(-1) ?? {})
  const config = asObject(wanted.generationConfig)
  const calling = asObject(asObject(wanted.toolConfig).functionCallingConfig)
  const named = readStops(calling.allowedFunctionNames)
  const isJson = config.responseMimeType === 'application/json'
  return {
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(readMessage),
    ],
    tools: asArray(wanted.tools)
      .flatMap(({ functionDeclarations: declared }) => asArray(declared))
      .flatMap(({ name, parametersJsonSchema, parameters }) =>
        typeof name === 'string' && (named.length === 0 || named.includes(name))
          ? [{ name, schema: parametersJsonSchema ?? parameters ?? {} }]
          : [],
      ),
    choice: calling.mode === 'NONE' ? 'none' : calling.mode === 'ANY' ? 'required' : 'auto',
    called: turns
      .slice(last + 1)
      .flatMap(({ parts }) =>
        asArray(parts).flatMap(({ functionCall }) =>
          functionCall ? [textOr(asObject(functionCall).name, '')] : [],
        ),
      ),
    result: results.length === 0 ? null : results.map(resultText).join('\n'),
    schema: isJson ? (config.responseJsonSchema ?? config.responseSchema ?? {}) : null,
    limit: readLimit(config.maxOutputTokens),
    stop: readStops(config.stopSequences),
  }
}

function listToolResults({ parts }: Json): Json[] {
  return asArray(parts).flatMap(({ functionResponse }) =>
    functionResponse ? [asObject(functionResponse)] : [],
  )
}

/** Google requires an object. An object that only wraps a text is read as the text. */
function resultText({ response }: Json): string {
  const { result, output } = asObject(response)
  return textOr(result ?? output, JSON.stringify(response ?? {}))
}

function readMessage(turn: Json): Message {
  const results = listToolResults(turn)
  if (results.length > 0) return { role: 'tool', content: results.map(resultText).join('\n') }
  return { role: turn.role === 'model' ? 'assistant' : 'user', content: readText(turn.parts) }
}

function toParts({ call, pieces }: ModelReply): object[] {
  return call === null
    ? [{ text: pieces.join('') }]
    : [{ functionCall: { id: call.id, name: call.name, args: call.args } }]
}

function toBody(parts: object[], finishReason: string | null) {
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        index: 0,
        ...(finishReason === null ? {} : { finishReason }),
      },
    ],
  }
}

function toFinishReason({ finish }: ModelReply): string {
  return finish === 'length' ? 'MAX_TOKENS' : 'STOP'
}

function toUsage({ promptTokens, completionTokens }: ModelReply) {
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens,
    totalTokenCount: promptTokens + completionTokens,
  }
}

/** Streams events with `alt=sse`, otherwise one growing array. */
function stream(
  reply: FastifyReply,
  head: object,
  said: ModelReply,
  isEvents: boolean,
): Promise<FastifyReply> {
  const type = isEvents ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8'
  const write = async (say: (text: string) => void, signal: AbortSignal) => {
    let isFirst = true
    const tell = (body: object) => {
      const json = JSON.stringify({ ...body, ...head })
      say(isEvents ? `data: ${json}\r\n\r\n` : `${isFirst ? '[' : ','}${json}`)
      isFirst = false
    }
    const { promptTokens } = said
    for await (const text of paced(said.pieces, signal)) {
      tell({ ...toBody([{ text }], null), usageMetadata: { promptTokenCount: promptTokens } })
    }
    tell({
      ...toBody(said.call === null ? [{ text: '' }] : toParts(said), toFinishReason(said)),
      usageMetadata: toUsage(said),
    })
    if (!isEvents) say(']')
  }
  return streamEvents(reply, write, type)
}

function refuse(reply: FastifyReply, code: number, status: string, message: string): FastifyReply {
  return reply.code(code).send({ error: { code, message, status } })
}
