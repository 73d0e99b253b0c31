// Anthropic's messages: a separate system text, alternating roles, content in blocks, named events.
// The trap: an unlisted model's quirks must be guessed from its name.

import type { AnthropicQuirks } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { wordSet } from '#platform/words.ts'
import { createReader, readAnswer } from './anthropic-reply.ts'
import { buildMessagesBody, type Traits } from './anthropic-request.ts'
import { findLeftOut } from './left-out.ts'
import { createNative } from './native.ts'
import { nativeMessages } from './native-messages.ts'
import { findAbilities, memoize, mergeQuirks, type Vendor, type VendorOptions } from './vendor.ts'

const API_VERSION = '2023-06-01'
/** Drops reasoning that no longer fits a shortened history, instead of rejecting it. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'
export function createAnthropic(apiKey: string, options: VendorOptions = {}): Vendor {
  const headers = {
    'x-api-key': apiKey,
    'anthropic-version': API_VERSION,
    'content-type': 'application/json',
  }
  const findTraits = memoize(
    (model): Traits => ({
      ...mergeQuirks(findFamilyQuirks(model), options, model),
      outputTokensMax: options.known?.(model)?.outputTokensMax ?? guessOutputMax(model),
    }),
  )
  return {
    dialect: 'anthropic',
    capabilities(model) {
      const { temperature, thinking, forcedTools } = findTraits(model)
      const forced = forcedTools === 'taken'
      return {
        temperature,
        thinking: thinking !== 'none',
        forced_tools: forced,
        ...findAbilities(options, model),
      }
    },
    shape: (model, request, stream) => {
      const body = buildMessagesBody(model, findTraits(model), request, stream)
      const isBound = asObject(body.thinking)?.block_binding !== undefined
      return {
        path: '/v1/messages',
        headers: isBound ? { ...headers, 'anthropic-beta': BINDING_BETA } : headers,
        body: JSON.stringify(body),
        leftOut: findLeftOut(request, (name) => isTranslated(name, body)),
      }
    },
    readAnswer,
    createReader,
    native: createNative(
      headers,
      nativeMessages,
      findTraits,
      { readAnswer, createReader },
      options,
    ),
  }
}

const TRANSLATED = wordSet('stop tools tool_choice response_format verbosity')

function isTranslated(name: string, body: Record<string, unknown>): boolean {
  if (name === 'reasoning_effort') {
    return asObject(body.output_config)?.effort !== undefined || body.thinking !== undefined
  }
  return (
    TRANSLATED.has(name) ||
    ((name === 'temperature' || name === 'top_p') && body[name] !== undefined)
  )
}

/** Guesses from the name of a model that the catalogue does not list. */
function findFamilyQuirks(model: string): AnthropicQuirks {
  const isSince5 = /^claude-[a-z]+-([5-9]|\d\d)\b/.test(model)
  const refusesForced = /^claude-((fable|mythos)-5-[1-9]|(opus|sonnet)-(5-[5-9]|[6-9]))/.test(model)
  return {
    // Since Claude Opus 4.7, sampling parameters are an error.
    temperature: isSince5 || /^claude-opus-4-[789]/.test(model) ? 'refused' : 'taken',
    forcedTools: refusesForced ? 'refused' : 'taken',
    thinking: isSince5
      ? 'by-default'
      : /^claude-(opus-4-[6-9]|sonnet-4-6)/.test(model)
        ? 'on-request'
        : 'none',
    checksReasoningPrefix: refusesForced || /^claude-haiku-(5-[5-9]|[6-9])/.test(model),
    cacheTokensMin: guessCacheMin(model, isSince5),
    rates: {},
    passes: [],
  }
}

function guessCacheMin(model: string, isSince5: boolean): number | null {
  // Servers that imitate Anthropic with their own models may not support the mark.
  if (!model.startsWith('claude-')) return null
  if (/^claude-(sonnet-5|opus-4-8|sonnet-4-5|(opus|sonnet)-4)(-\d{8})?$/.test(model)) return 1_024
  if (/^claude-sonnet-4-6/.test(model)) return 2_048
  if (/^claude-(opus-4-[5-7]|haiku-4-5)/.test(model)) return 4_096
  return isSince5 ? 512 : 1_024
}

function guessOutputMax(model: string): number {
  if (/^claude-([a-z]+-([5-9]|\d\d)\b|opus-4-[6-9])/.test(model)) return 128_000
  if (/^claude-([a-z]+-4-[5-9]|sonnet-4)/.test(model)) return 64_000
  return /^claude-opus-4/.test(model) ? 32_000 : 4_096
}
