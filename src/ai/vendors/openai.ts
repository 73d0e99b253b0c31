// OpenAI's chat completions, the dialect of most vendors: Groq, Mistral, Ollama, vLLM, other
// gateways, the sandbox. Requests that OpenAI supports only in its Responses API go there. The
// trap: an unlisted model's quirks must be guessed from its name.

import type { OpenAiQuirks, Temperature } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { wordSet } from '#platform/words.ts'
import { requireNoIds } from './account-objects.ts'
import type { ChatRequest } from './chat-request.ts'
import { requireRates } from './extras.ts'
import { findLeftOut } from './left-out.ts'
import { createNative } from './native.ts'
import { createResponsesDialect } from './native-responses.ts'
import { createReader, readAnswer, readEmbedding, readReranking } from './openai-reply.ts'
import { buildAdaptedBody } from './openai-request.ts'
import { buildResponsesBody } from './responses-request.ts'
import { findAbilities, memoize, mergeQuirks, type Vendor, type VendorOptions } from './vendor.ts'
import { createRefusal } from './vendor-error.ts'

export function createOpenAi(apiKey: string, options: VendorOptions = {}): Vendor {
  const { isSandbox = false } = options
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const findQuirks = memoize(
    (model): OpenAiQuirks => mergeQuirks(findFamilyQuirks(model), options, model),
  )
  const thinks = (model: string) => findQuirks(model).temperature !== 'taken'
  const isOpenAi = (model: string) => findQuirks(model).foreignMembers === 'openai'
  const speaksResponses = (model: string) => isSandbox || findQuirks(model).hasResponses
  return {
    dialect: 'openai',
    capabilities(model) {
      const { temperature } = findQuirks(model)
      return {
        temperature,
        thinking: thinks(model),
        forced_tools: true,
        ...findAbilities(options, model),
      }
    },
    ignoresStop(model, request) {
      const own = findQuirks(model)
      if (isSandbox) return false
      return (
        own.temperature !== 'taken' || own.refuses.includes('stop') || needsResponses(own, request)
      )
    },
    shape: (model, request, stream) => {
      const own = findQuirks(model)
      if (own.foreignMembers !== 'refused') requireRates('responses', request, own.rates)
      requirePricedSearch(model)
      if (!options.allowsAccountObjects) requireNoIds(request.messages)
      const isResponse = !isSandbox && needsResponses(own, request)
      const body = isResponse
        ? buildResponsesBody(model, request, stream)
        : buildAdaptedBody(model, own, request, stream, isSandbox)
      const isSent = (name: string) =>
        body[name] !== undefined ||
        (isResponse ? IN_RESPONSES.has(name) : name === 'verbosity') ||
        // The gateway cuts the answer itself.
        name === 'stop'
      return {
        path: isResponse ? '/responses' : '/chat/completions',
        headers,
        body: JSON.stringify(body),
        leftOut: findLeftOut(request, isSent),
      }
    },
    readAnswer,
    createReader,
    native: createNative(
      headers,
      createResponsesDialect(speaksResponses, thinks, isOpenAi),
      findQuirks,
      { readAnswer, createReader },
      options,
    ),
    embed: {
      shape: (model, inputs, dimensions, members) => ({
        path: '/embeddings',
        headers,
        body: JSON.stringify({
          model,
          input: inputs,
          encoding_format: 'float',
          ...(dimensions === null ? {} : { dimensions }),
          ...members,
        }),
      }),
      readAnswer: readEmbedding,
    },
    // All documents are scored: vendors name the number of results differently.
    rerank: {
      shape: (model, query, documents) => ({
        path: '/rerank',
        headers,
        body: JSON.stringify({ model, query, documents }),
      }),
      readAnswer: readReranking,
    },
  }
}

/** Members with another form in the Responses API. */
const IN_RESPONSES = wordSet('reasoning_effort response_format verbosity')

/** The prefix identifies OpenAI's own models. */
function findFamilyQuirks(model: string): OpenAiQuirks {
  return {
    temperature: guessTemperature(model),
    // OpenAI's own models since o1 reject `max_tokens`; other servers often support nothing else.
    lengthName: /^(o\d|gpt-([4-9]|\d\d))/.test(model) ? 'max_completion_tokens' : 'max_tokens',
    foreignMembers: /^(o\d|gpt-\d|chatgpt-)/.test(model) ? 'openai' : 'taken',
    toolIds: 'any',
    refuses: [],
    passes: [],
    unknownMembers: 'left-out',
    adds: {},
    earlierReasoning: 'as-given',
    reportsCost: false,
    streamUsage: 'on-request',
    responses: guessResponses(model),
    hasResponses: /^(gpt-\d|o\d|codex-|computer-use-)/.test(model),
    rates: {},
  }
}

function guessTemperature(model: string): Temperature {
  if (
    /^(o\d|gpt-5(-mini|-nano|-pro|-codex)?($|-\d)|gpt-6(\.\d)?-astra|gpt-6\.[1-9]-sol)/.test(model)
  )
    return 'refused'
  return /^gpt-([5-9]|\d\d)/.test(model) && !/chat/.test(model) ? 'without-reasoning' : 'taken'
}

/**
 * Only /responses combines tools and reasoning: since GPT-5.6, /chat/completions rejects function
 * tools unless the effort is `none`; since GPT-5.2, with an effort.
 * Some models exist only there.
 */
function guessResponses(model: string): OpenAiQuirks['responses'] {
  if (/^(o\d|gpt-\d[\d.]*)-(pro|codex|deep-research)/.test(model)) return 'always'
  if (/chat/.test(model)) return 'never'
  if (/^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(model)) return 'for-tools'
  return /^gpt-5\.[2-5]/.test(model) ? 'for-tools-with-effort' : 'never'
}

/** Searches of these models have a higher, unknown price. @throws VendorError */
function requirePricedSearch(model: string): void {
  if (model.startsWith('gpt-4o') && model.includes('search-preview'))
    throw createRefusal(
      `The searches of '${model}' have no price here: use 'gpt-5-search-api', or /v1/responses`,
      'model',
    )
}

function needsResponses({ responses }: OpenAiQuirks, request: ChatRequest): boolean {
  const { tools, reasoning_effort: effort } = request
  if (responses === 'always' || responses === 'never') return responses === 'always'
  if (effort === 'none') return false
  // Only the Responses API returns reasoning, on request.
  if (asObject(request.reasoning)?.summary != null) return true
  return tools?.length ? responses === 'for-tools' || effort != null : false
}
