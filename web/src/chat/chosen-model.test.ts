import assert from 'node:assert/strict'
import test from 'node:test'
import type { Model, ModelList } from '../api/types.ts'
import { chooseModel } from './chosen-model.ts'

const models: ModelList = {
  prices_as_of: '2026-11-01',
  default_provider: 'anthropic',
  default_model: 'claude-x',
  providers: [
    {
      provider: 'anthropic',
      label: 'Anthropic',
      configured: true,
      sandbox: false,
      default_model: 'claude-x',
    },
    {
      provider: 'openai',
      label: 'OpenAI',
      configured: true,
      sandbox: false,
      default_model: 'gpt-x',
    },
    {
      provider: 'gemini',
      label: 'Gemini',
      configured: false,
      sandbox: false,
      default_model: 'gemini-x',
    },
    { provider: 'groq', label: 'Groq', configured: true, sandbox: false, default_model: 'llama-x' },
  ],
  models: [
    chatModel('anthropic', 'claude-x', 128_000),
    chatModel('openai', 'gpt-x', 4_096),
    chatModel('groq', 'llama-x', null),
  ],
}
const nothing = { provider: undefined, model: undefined }

test('without a choice the default is used and shown', () => {
  assert.deepEqual(chooseModel(nothing, models), {
    provider: 'anthropic',
    model: undefined,
    modelMaxTokens: 16_384,
    otherProviders: ['OpenAI', 'Groq'],
  })
})

test('a chosen provider is sent', () => {
  assert.equal(chooseModel({ ...nothing, provider: 'openai' }, models).provider, 'openai')
  assert.equal(chooseModel({ ...nothing, provider: 'anthropic' }, models).provider, 'anthropic')
  assert.equal(chooseModel({ ...nothing, provider: 'groq' }, models).provider, 'groq')
})

test('a link cannot choose a missing provider or its model', () => {
  for (const provider of ['gemini', 'nobody', '']) {
    const chosen = chooseModel({ provider, model: 'gemini-y' }, models)
    assert.deepEqual([chosen.provider, chosen.model], ['anthropic', undefined], provider)
  }
  const other = { ...models, default_provider: 'gemini' }
  assert.equal(
    chooseModel(nothing, other).provider,
    'anthropic',
    'the first provider with a key replaces a default without one',
  )
})

test('a model belongs to the shown provider; its limit is sent only when known', () => {
  assert.deepEqual(
    chooseModel({ provider: undefined, model: 'claude-y' }, models).modelMaxTokens,
    undefined,
  )
  assert.equal(chooseModel({ provider: undefined, model: 'claude-y' }, models).model, 'claude-y')
  assert.equal(chooseModel({ provider: 'openai', model: undefined }, models).modelMaxTokens, 4_096)
  assert.equal(
    chooseModel({ provider: 'groq', model: undefined }, models).modelMaxTokens,
    undefined,
  )
})

test('while the models load, the link’s values are used', () => {
  assert.deepEqual(chooseModel({ provider: 'openai', model: 'gpt-x' }, undefined), {
    provider: 'openai',
    model: 'gpt-x',
    modelMaxTokens: undefined,
    otherProviders: [],
  })
})

function chatModel(provider: string, id: string, output_tokens_max: number | null): Model {
  const prices = {
    input_usd_per_million: 1,
    cached_input_usd_per_million: 1,
    output_usd_per_million: 1,
    vision: false,
    price_estimated: false,
  }
  return {
    id,
    provider,
    alias_of: null,
    routes: [`${provider}/${id}`],
    routed_by: null,
    kind: 'chat',
    context_tokens: null,
    output_tokens_max,
    ...prices,
    available: true,
    default: false,
  }
}
