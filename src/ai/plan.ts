// Guards the answer to "who shall answer this?": vendor names, slots and model names, and whom to ask when he fails.
// One thing to know: a fallback that has no key is passed over silently; the vendor that was asked for is not.

import type { Config } from '#src/config.ts'
import { DEFAULT_MODELS, findModel } from './models.ts'
import { aiProblem } from './problems.ts'
import type { VendorName } from './vendors/vendor.ts'

export type Candidate = { vendor: VendorName; model: string }

/** Names that a request may use for a vendor. */
export const PROVIDER_NAMES = [
  'openai',
  'anthropic',
  'gemini',
  'google',
  'llm_vendor_1',
  'llm_vendor_2',
  'llm_vendor_3',
] as const
/** What a model may be called: letters, digits and signs of ASCII, as all vendors have it. Control characters and halves of
 * characters would break an address or a database on their way. */
export const MODEL_NAME = { minLength: 1, maxLength: 200, pattern: '^[ -~]+$' }
export type ProviderName = (typeof PROVIDER_NAMES)[number]

type AiConfig = Config['ai']

/** A slot that LLM_VENDORS leaves empty is filled with the vendors it leaves out, in their usual order. */
export function vendorOf(ai: AiConfig, provider: ProviderName | null): VendorName {
  const slots = slotsOf(ai)
  if (provider === null) return slots[0] ?? 'openai'
  if (provider === 'google') return 'gemini'
  const slot = /^llm_vendor_(\d)$/.exec(provider)
  return slot ? (slots[Number(slot[1]) - 1] ?? 'openai') : (provider as VendorName)
}

/** All vendors, each once, in the order of their slots. */
export function slotsOf(ai: AiConfig): VendorName[] {
  return [...new Set<VendorName>([...ai.slots, 'openai', 'anthropic', 'gemini'])]
}

/** `vendor/model`, or a model whose name tells its maker; any other name goes to the first slot, as Ollama's do. */
export function candidateFor(ai: AiConfig, modelName: string): Candidate {
  const slash = modelName.indexOf('/')
  const prefix = modelName.slice(0, Math.max(slash, 0))
  if (slash > 0 && (PROVIDER_NAMES as readonly string[]).includes(prefix)) {
    const vendor = vendorOf(ai, prefix as ProviderName)
    return { vendor, model: modelName.slice(slash + 1) || defaultModel(ai, vendor) }
  }
  return { vendor: makerOf(modelName) ?? vendorOf(ai, null), model: modelName }
}

function makerOf(model: string): VendorName | null {
  const known = findModel(model)
  if (known) return known.vendor
  if (/^(gpt-|chatgpt-|o\d|text-embedding-)/.test(model)) return 'openai'
  if (/^claude-/.test(model)) return 'anthropic'
  return /^(gemini-|gemma-|models\/gemini)/.test(model) ? 'gemini' : null
}

export function defaultModel(ai: AiConfig, vendor: VendorName): string {
  return ai.vendors[vendor].model ?? DEFAULT_MODELS[vendor]
}

export function isConfigured(ai: AiConfig, vendor: VendorName): boolean {
  return ai.vendors[vendor].apiKey !== null
}

/**
 * The one asked for and then LLM_FALLBACKS, each once. Where a real vendor was asked, none that the sandbox plays answers
 * instead. @throws Problem 400 when the one asked for has no key.
 */
export function planOf(ai: AiConfig, first: Candidate): Candidate[] {
  requireConfigured(ai, first.vendor)
  const isPlayed = ai.vendors[first.vendor].sandboxed
  const plan = [first]
  for (const { vendor, model } of ai.fallbacks) {
    if (!isConfigured(ai, vendor) || (ai.vendors[vendor].sandboxed && !isPlayed)) continue
    const candidate = { vendor, model: model ?? defaultModel(ai, vendor) }
    if (!plan.some((other) => other.vendor === candidate.vendor && other.model === candidate.model))
      plan.push(candidate)
  }
  return plan
}

export function requireConfigured(ai: AiConfig, vendor: VendorName): void {
  if (isConfigured(ai, vendor)) return
  throw aiProblem('provider_not_configured', { vendor })
}
