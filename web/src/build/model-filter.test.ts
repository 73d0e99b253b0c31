import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlanModel } from '../api/types.ts'
import { filterModels, listAbilities } from './model-filter.ts'

const model = (id: string, more: Partial<PlanModel> = {}): PlanModel => ({
  id,
  provider: 'openai',
  provider_label: 'OpenAI',
  routes: [],
  kind: 'chat',
  context_tokens: 100_000,
  output_tokens_max: null,
  capabilities: {
    temperature: 'taken',
    thinking: false,
    forced_tools: true,
    vision: true,
    pdf: null,
    audio: false,
    tools: true,
    json_schema: null,
  },
  input_usd_per_million: 1,
  cached_input_usd_per_million: 0.1,
  output_usd_per_million: 4,
  price_estimated: false,
  default: false,
  plans: ['Pro'],
  included: true,
  ...more,
})

const MODELS = [
  model('gpt-large', { input_usd_per_million: 9, context_tokens: null }),
  model('gpt-small', { input_usd_per_million: 0.2, included: false }),
  model('claude', { provider: 'anthropic', provider_label: 'Anthropic', context_tokens: 900_000 }),
  model('vectors', { kind: 'embedding', capabilities: null, output_usd_per_million: 0 }),
]

test('models match by every word, vendor, ability and plan, in the chosen order', () => {
  const find = (search: Parameters<typeof filterModels>[1]) =>
    filterModels(MODELS, search).map(({ id }) => id)
  assert.deepEqual(find({}), ['gpt-large', 'gpt-small', 'claude', 'vectors'])
  assert.deepEqual(find({ q: 'SMALL openai' }), ['gpt-small'])
  assert.deepEqual(find({ vendor: 'anthropic' }), ['claude'])
  assert.deepEqual(find({ can: 'vision' }), ['gpt-large', 'gpt-small', 'claude'])
  assert.deepEqual(find({ can: 'toString' }), [])
  assert.deepEqual(find({ mine: true }), ['gpt-large', 'claude', 'vectors'])
  assert.deepEqual(find({ order: 'input' })[0], 'gpt-small')
  assert.deepEqual(find({ order: 'output' })[0], 'vectors')
  assert.deepEqual(find({ order: 'context' }), ['claude', 'gpt-small', 'vectors', 'gpt-large'])
  assert.deepEqual(find({ order: 'name' })[0], 'claude')
  assert.deepEqual(find({ order: 'toString' })[0], 'gpt-large')
})

test('only known abilities are named', () => {
  const names = listAbilities(model('any')).map(({ label }) => label)
  assert.deepEqual(names, ['Images', 'Tools'])
  assert.deepEqual(listAbilities(model('any', { capabilities: null })), [])
})
