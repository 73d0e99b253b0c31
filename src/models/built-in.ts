// The vendors and models that are known without a MODELS file, with the date of their prices.
// An unlisted model works when it is named: it costs as much as its vendor's most expensive model,
// marked as an estimate, and its quirks are guessed from its family.
import {
  type Abilities,
  type AnthropicQuirks,
  EMBEDDINGS,
  type EmbeddingTraits,
  type Model,
  type Price,
  type Quirks,
  type VendorEntry,
} from './catalogue.ts'

/** When the prices were read from the vendors' price pages. */
export const PRICES_AS_OF = '2026-11-20'

/** The same in seconds since 1970. */
export const PRICES_AS_OF_SECONDS = Date.parse(PRICES_AS_OF) / 1_000

/** The abilities of all current models; only Gemini's accept sound. */
const SEES: Abilities = { vision: true, pdf: true, audio: false, tools: true, json_schema: true }

const THINKING_GPT: Quirks = {
  ...SEES,
  temperature: 'without-reasoning',
  lengthName: 'max_completion_tokens',
  foreignMembers: 'openai',
  toolIds: 'any',
  streamUsage: 'on-request',
  responses: 'for-tools',
  hasResponses: true,
}
/** Astra, and Sol since 6.1, always reason, so they reject sampling parameters. */
const ALWAYS_THINKING_GPT: Quirks = { ...THINKING_GPT, temperature: 'refused' }

const CLAUDE: Omit<AnthropicQuirks, 'rates' | 'passes'> & Abilities = {
  ...SEES,
  temperature: 'refused',
  forcedTools: 'refused',
  thinking: 'by-default',
  checksReasoningPrefix: true,
  cacheTokensMin: 512,
}

const GEMINI: Quirks = {
  ...SEES,
  audio: true,
  temperature: 'taken',
  signsReasoning: true,
  returnsReasoning: true,
}

/** A cosine of 0.1 with any text, about 0.4 with one that answers, users report. */
const OPENAI_SIMILARITY = { unrelated: 0.1, answers: 0.3 }

/**
 * Sources: developers.openai.com/api/docs/pricing, platform.claude.com/docs (models & pricing),
 * ai.google.dev/gemini-api/docs/pricing. Gemini 3.8 Flash doubles in price on 2027-01-01.
 */
export const BUILT_IN: readonly VendorEntry[] = [
  {
    name: 'openai',
    otherNames: [],
    label: 'OpenAI',
    dialect: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keySetting: 'OPENAI_API_KEY',
    endpointSettings: [],
    prices: null,
    defaultModel: 'gpt-6.1-terra',
    timeoutMs: null,
    modelNames: /^(gpt-|chatgpt-|o\d|text-embedding-)/,
    // Half of the list price, for every model that offers it.
    quirks: { rates: { 'service_tier:flex': 0.5 } },
    // 300,000 tokens per request; in some scripts a character is a token.
    embeddings: { inputsMax: 2_048, charactersMax: 200_000 },
    models: [
      createGpt('gpt-6.2-astra', createGptPrice(8, 0.4, 40, 10), ALWAYS_THINKING_GPT),
      createGpt('gpt-6.2-sol', createGptPrice(2, 0.1, 10, 2.5), ALWAYS_THINKING_GPT),
      createGpt('gpt-6-astra', createGptPrice(10, 1, 50, 12.5), ALWAYS_THINKING_GPT),
      createGpt('gpt-6.1-sol', createGptPrice(2, 0.1, 10, 2.5), ALWAYS_THINKING_GPT),
      createGpt('gpt-6-sol', createGptPrice(2, 0.2, 10, 2.5), THINKING_GPT),
      createGpt('gpt-6.1-terra', createGptPrice(1, 0.05, 5, 1.25), THINKING_GPT),
      createGpt('gpt-6-luna', createGptPrice(0.1, 0.01, 0.5, 0.125), THINKING_GPT),
      createChatModel(
        'gpt-4.1-mini',
        1_047_576,
        32_768,
        { input: 0.4, cached: 0.1, output: 1.6 },
        {
          ...SEES,
          temperature: 'taken',
          lengthName: 'max_completion_tokens',
          foreignMembers: 'openai',
          toolIds: 'any',
          streamUsage: 'on-request',
          responses: 'never',
          hasResponses: true,
        },
      ),
      createEmbeddingModel('text-embedding-3-small', 0.02, 8_191, {
        similarity: OPENAI_SIMILARITY,
      }),
      createEmbeddingModel('text-embedding-3-large', 0.13, 8_191, {
        similarity: OPENAI_SIMILARITY,
      }),
    ],
  },
  {
    name: 'anthropic',
    otherNames: [],
    label: 'Anthropic',
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keySetting: 'ANTHROPIC_API_KEY',
    endpointSettings: [],
    prices: null,
    defaultModel: 'claude-sonnet-5-5',
    timeoutMs: null,
    modelNames: /^claude-/,
    quirks: { rates: { 'inference_geo:us': 1.1 } },
    embeddings: EMBEDDINGS,
    models: [
      createClaude(
        'claude-fable-5-2',
        { input: 8, cached: 0.2, cacheWrite: 10, output: 40 },
        CLAUDE,
      ),
      createClaude(
        'claude-fable-5-1',
        { input: 10, cached: 0.25, cacheWrite: 12.5, output: 50 },
        CLAUDE,
      ),
      createClaude('claude-opus-5-5', { input: 4, cached: 0.2, cacheWrite: 5, output: 20 }, CLAUDE),
      createClaude(
        'claude-sonnet-5-5',
        { input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 },
        CLAUDE,
      ),
      createClaude(
        'claude-haiku-5-5',
        {
          input: 0.1,
          cached: 0.01,
          cacheWrite: 0.125,
          output: 0.5,
          long: { above: 100_000, input: 0.5, cached: 0.05, cacheWrite: 0.625, output: 2.5 },
        },
        { ...CLAUDE, forcedTools: 'taken' },
      ),
    ],
  },
  {
    name: 'gemini',
    otherNames: ['google'],
    label: 'Gemini',
    dialect: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    keySetting: 'GEMINI_API_KEY',
    endpointSettings: [],
    prices: null,
    defaultModel: 'gemini-3.8-flash',
    timeoutMs: null,
    modelNames: /^(gemini-|gemma-|models\/gemini)/,
    quirks: {},
    embeddings: { inputsMax: 100, charactersMax: 200_000 },
    models: [
      createChatModel(
        'gemini-3.8-flash',
        1_048_576,
        65_536,
        addAudioPrice({ input: 0.75, cached: 0.075, output: 3.75 }),
        GEMINI,
      ),
      createChatModel(
        'gemini-3.5-flash-lite',
        1_048_576,
        65_536,
        addAudioPrice({ input: 0.3, cached: 0.03, output: 2.5 }),
        GEMINI,
      ),
      createChatModel(
        'gemini-2.5-pro',
        1_048_576,
        65_536,
        addAudioPrice({
          input: 1.25,
          cached: 0.125,
          output: 10,
          long: { above: 200_000, input: 2.5, cached: 0.25, output: 15 },
        }),
        { ...GEMINI, signsReasoning: false },
      ),
      // Unlike gemini-embedding-001, it has no taskType:
      // https://ai.google.dev/gemini-api/docs/embeddings
      createEmbeddingModel('gemini-embedding-2', 0.2, 8_192, {
        tasks: { query: 'task: search result | query: ', document: 'title: none | text: ' },
      }),
    ],
  },
]

function createChatModel(
  id: string,
  contextTokens: number,
  outputTokensMax: number,
  price: Price,
  quirks: Quirks,
): Model {
  return {
    id,
    kind: 'chat',
    contextTokens,
    outputTokensMax,
    price,
    createdSeconds: PRICES_AS_OF_SECONDS,
    quirks,
  }
}

function createGpt(id: string, price: Price, quirks: Quirks): Model {
  return createChatModel(id, 1_050_000, 128_000, price, quirks)
}

/** These models have one price for every kind of input. */
function addAudioPrice(price: Price): Price {
  return { ...price, media: { audio: 'as-text' } }
}

/** Beyond 272,000 prompt tokens, OpenAI bills the whole request at twice the input and 1.5 times the output price. */
function createGptPrice(input: number, cached: number, output: number, cacheWrite: number): Price {
  return {
    input,
    cached,
    output,
    cacheWrite,
    long: {
      above: 272_000,
      input: input * 2,
      cached: cached * 2,
      output: output * 1.5,
      cacheWrite: cacheWrite * 2,
    },
  }
}

function createClaude(id: string, price: Price, quirks: Quirks): Model {
  return createChatModel(id, 1_000_000, 128_000, price, quirks)
}

function createEmbeddingModel(
  id: string,
  input: number,
  contextTokens: number,
  traits: EmbeddingTraits,
): Model {
  const price = { input, cached: input, output: 0 }
  return {
    id,
    kind: 'embedding',
    contextTokens,
    outputTokensMax: null,
    price,
    createdSeconds: PRICES_AS_OF_SECONDS,
    quirks: {},
    embedding: traits,
  }
}
