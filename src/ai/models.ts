// Guards what the product knows of models: which vendor has them, what they cost, which parameters they refuse.
// One thing to know: this is data with a date. A model that is not listed still works when it is named; it then costs what
// its vendor's dearest does, marked as a guess, and its parameters are guessed from its family.
import type { Usage, VendorName } from './vendors/vendor.ts'

/** When the prices were read from the vendors' price pages. */
export const PRICES_AS_OF = '2026-11-20'

/** US dollars per million tokens. */
export type Price = {
  input: number
  output: number
  /** Input read from the vendor's cache. */
  cached: number
  /** Input written to the vendor's cache, where that costs more; else `input`. */
  cacheWrite?: number
  /** What the whole request costs when its prompt is longer than `above` tokens. */
  long?: { above: number; input: number; output: number; cached: number; cacheWrite?: number }
}

export type Model = {
  id: string
  vendor: VendorName
  kind: 'chat' | 'embedding'
  contextTokens: number
  outputTokensMax: number | null
  price: Price
  /** Sampling parameters are refused whatever their value, or unless reasoning is off. */
  temperature: 'taken' | 'refused' | 'without-reasoning'
}

export const DEFAULT_MODELS: Record<VendorName, string> = {
  openai: 'gpt-6.1-terra',
  anthropic: 'claude-sonnet-5-5',
  gemini: 'gemini-3.8-flash',
}

/** OpenAI bills the whole request at twice the input and 1.5 times the output price beyond 272,000 prompt tokens. */
function openaiPrice(input: number, cached: number, output: number, cacheWrite: number): Price {
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

/**
 * Sources: developers.openai.com/api/docs/pricing, platform.claude.com/docs (models & pricing),
 * ai.google.dev/gemini-api/docs/pricing. Gemini 3.8 Flash doubles in price on 2027-01-01.
 */
export const MODELS: readonly Model[] = [
  openai('gpt-6.2-astra', openaiPrice(8, 0.4, 40, 10), 'refused'),
  openai('gpt-6.2-sol', openaiPrice(2, 0.1, 10, 2.5), 'refused'),
  openai('gpt-6-astra', openaiPrice(10, 1, 50, 12.5), 'refused'),
  openai('gpt-6.1-sol', openaiPrice(2, 0.1, 10, 2.5), 'refused'),
  openai('gpt-6-sol', openaiPrice(2, 0.2, 10, 2.5)),
  openai('gpt-6.1-terra', openaiPrice(1, 0.05, 5, 1.25)),
  openai('gpt-6-luna', openaiPrice(0.1, 0.01, 0.5, 0.125)),
  {
    id: 'gpt-4.1-mini',
    vendor: 'openai',
    kind: 'chat',
    contextTokens: 1_047_576,
    outputTokensMax: 32_768,
    price: { input: 0.4, cached: 0.1, output: 1.6 },
    temperature: 'taken',
  },
  anthropic('claude-fable-5-2', { input: 8, cached: 0.2, cacheWrite: 10, output: 40 }),
  anthropic('claude-fable-5-1', { input: 10, cached: 0.25, cacheWrite: 12.5, output: 50 }),
  anthropic('claude-opus-5-5', { input: 4, cached: 0.2, cacheWrite: 5, output: 20 }),
  anthropic('claude-sonnet-5-5', { input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 }),
  anthropic('claude-haiku-5-5', {
    input: 0.1,
    cached: 0.01,
    cacheWrite: 0.125,
    output: 0.5,
    long: { above: 100_000, input: 0.5, cached: 0.05, cacheWrite: 0.625, output: 2.5 },
  }),
  gemini('gemini-3.8-flash', { input: 0.75, cached: 0.075, output: 3.75 }),
  gemini('gemini-3.5-flash-lite', { input: 0.3, cached: 0.03, output: 2.5 }),
  gemini('gemini-2.5-pro', {
    input: 1.25,
    cached: 0.125,
    output: 10,
    long: { above: 200_000, input: 2.5, cached: 0.25, output: 15 },
  }),
  embedding('text-embedding-3-small', 'openai', 0.02, 8_191),
  embedding('text-embedding-3-large', 'openai', 0.13, 8_191),
  embedding('gemini-embedding-2', 'gemini', 0.2, 8_192),
]

/** Astra, and Sol since 6.1, cannot do without reasoning and so take no sampling parameters. */
function openai(id: string, price: Price, temperature: Model['temperature'] = 'without-reasoning'): Model {
  const contextTokens = 1_050_000
  return {
    id,
    vendor: 'openai',
    kind: 'chat',
    contextTokens,
    outputTokensMax: 128_000,
    price,
    temperature,
  }
}

function anthropic(id: string, price: Price): Model {
  return {
    id,
    vendor: 'anthropic',
    kind: 'chat',
    contextTokens: 1_000_000,
    outputTokensMax: 128_000,
    price,
    temperature: 'refused',
  }
}

function gemini(id: string, price: Price): Model {
  return {
    id,
    vendor: 'gemini',
    kind: 'chat',
    contextTokens: 1_048_576,
    outputTokensMax: 65_536,
    price,
    temperature: 'taken',
  }
}

function embedding(id: string, vendor: VendorName, input: number, contextTokens: number): Model {
  return {
    id,
    vendor,
    kind: 'embedding',
    contextTokens,
    outputTokensMax: null,
    price: { input, cached: input, output: 0 },
    temperature: 'taken',
  }
}

const byId = new Map(MODELS.map((model) => [model.id, model]))

/** Finds a model by its id, with or without a date behind it: `gpt-6-luna-2026-09-22`, `claude-haiku-4-5-20251001`. */
export function findModel(id: string): Model | null {
  return byId.get(id) ?? byId.get(id.replace(/-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')) ?? null
}

/** What Anthropic takes for a prefix kept for an hour, as a multiple of the input's price. */
const HOUR_WRITE = 2

/** US dollars; 0 for a model without a known price. `usage.cached` and `usage.cacheWrites` are parts of `usage.prompt`. */
export function costUsd(modelId: string, usage: Usage): number {
  const price = findModel(modelId)?.price
  if (price === undefined) return 0
  const rate = price.long !== undefined && usage.prompt > price.long.above ? price.long : price
  const fresh = Math.max(0, usage.prompt - usage.cached - usage.cacheWrites)
  const hour = Math.min(usage.cacheWritesHour ?? 0, usage.cacheWrites)
  const dollars =
    fresh * rate.input +
    usage.cached * rate.cached +
    (usage.cacheWrites - hour) * (rate.cacheWrite ?? rate.input) +
    hour * rate.input * HOUR_WRITE +
    usage.completion * rate.output
  return dollars / 1_000_000
}

/** How a model takes `temperature` and its like: by the list, else by its family's habits. */
export function temperatureOf(vendor: VendorName, modelId: string): Model['temperature'] {
  const known = findModel(modelId)
  if (known) return known.temperature
  if (vendor === 'openai') {
    if (/^(o\d|gpt-5(-mini|-nano|-pro|-codex)?($|-\d)|gpt-6(\.\d)?-astra|gpt-6\.[1-9]-sol)/.test(modelId))
      return 'refused'
    return /^gpt-([5-9]|\d\d)/.test(modelId) && !/chat/.test(modelId) ? 'without-reasoning' : 'taken'
  }
  // Since Claude Opus 4.7 a sampling parameter is an error; before, it is taken.
  if (vendor === 'anthropic') return /^claude-([a-z]+-([5-9]|\d\d)\b|opus-4-[789])/.test(modelId) ? 'refused' : 'taken'
  return 'taken'
}

export function refusesForcedTools(modelId: string): boolean {
  return /^claude-((fable|mythos)-5-[1-9]|(opus|sonnet)-(5-[5-9]|[6-9]))/.test(modelId)
}

/** OpenAI's own models since o1 refuse `max_tokens`; servers that stand in for OpenAI often know nothing else. */
export function wantsMaxCompletionTokens(modelId: string): boolean {
  return /^(o\d|gpt-([4-9]|\d\d))/.test(modelId)
}

/** A name of OpenAI's own: its server refuses members that it does not know, where others pass them over or need them. */
export function isOpenAis(modelId: string): boolean {
  return /^(o\d|gpt-\d|chatgpt-)/.test(modelId)
}

/**
 * Whether tools and thinking meet only at OpenAI's /responses: since GPT-5.6 /chat/completions refuses function tools
 * unless the effort is `none`, since GPT-5.2 where an effort is named. Some models are nowhere else.
 */
export function needsResponses(modelId: string, hasTools: boolean, effort: string | null): boolean {
  if (/^(o\d|gpt-\d[\d.]*)-(pro|codex|deep-research)/.test(modelId)) return true
  if (!hasTools || effort === 'none' || /chat/.test(modelId)) return false
  if (/^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(modelId)) return true
  return effort !== null && /^gpt-5\.[2-5]/.test(modelId)
}

/** Whether a Claude thinks unless it is told not to; its thoughts come without words unless these are asked for. */
export function thinksUnasked(modelId: string): boolean {
  return /^claude-[a-z]+-([5-9]|\d\d)\b/.test(modelId)
}

/** Whether a Claude chooses by itself how much to think (`adaptive`). */
export function thinksAdaptively(modelId: string): boolean {
  return thinksUnasked(modelId) || /^claude-(opus-4-[6-9]|sonnet-4-6)/.test(modelId)
}

/** Whether a Claude refuses thoughts that come back behind a changed beginning, unless it is told to drop them. */
export function bindsThoughts(modelId: string): boolean {
  return refusesForcedTools(modelId) || /^claude-haiku-(5-[5-9]|[6-9])/.test(modelId)
}

/** Answers of a Claude end here at the latest. By the list, else by its family. */
export function claudeOutputMax(modelId: string): number {
  const known = findModel(modelId)?.outputTokensMax
  if (known) return known
  if (/^claude-([a-z]+-([5-9]|\d\d)\b|opus-4-[6-9])/.test(modelId)) return 128_000
  if (/^claude-([a-z]+-4-[5-9]|sonnet-4)/.test(modelId)) return 64_000
  return /^claude-opus-4/.test(modelId) ? 32_000 : 4_096
}

/** Tokens below which Anthropic keeps no prefix. */
export function cacheTokensMin(modelId: string): number {
  if (/^claude-(sonnet-5|opus-4-8|sonnet-4-5|(opus|sonnet)-4)(-\d{8})?$/.test(modelId)) return 1_024
  if (/^claude-sonnet-4-6/.test(modelId)) return 2_048
  if (/^claude-(opus-4-[5-7]|haiku-4-5)/.test(modelId)) return 4_096
  return thinksUnasked(modelId) ? 512 : 1_024
}

/**
 * Thoughts count against an answer's limit at every vendor. Up to this many tokens a model that thinks by its own choice
 * is asked by our own routes to think little: an answer cut before its first word helps nobody. Who speaks for itself
 * (`asAsked`) gets the effort it names, or the model's own.
 */
export const SHORT_ANSWER_TOKENS = 4_096
