import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { computeCost } from '#ai/cost.ts'
import { chooseRoute, findRouteByName, findRoutes } from '#ai/routing.ts'
import { ConfigError, readConfig } from '#config/config.ts'
import { isAllowed } from './catalogue.ts'

const DOCS = resolve(import.meta.dirname, '../../docs/models.json')
const KEYS = { GROQ_API_KEY: 'gsk-test', MISTRAL_API_KEY: 'mistral-test' }

function fileOf(t: Pick<TestContext, 'after'>, contents: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'models.json')
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents))
  return path
}

test('the file in docs/ works: its vendors get requests at their addresses, with their keys', () => {
  const { ai } = readConfig({ ...KEYS, MODELS: DOCS, SANDBOX: 'off' })
  assert.deepEqual(Object.keys(ai.vendors), [
    'openai',
    'anthropic',
    'gemini',
    'groq',
    'mistral',
    'ollama',
  ])
  const { groq, mistral, ollama } = ai.vendors
  assert.deepEqual([groq!.baseUrl, groq!.apiKey], ['https://api.groq.com/openai/v1', 'gsk-test'])
  assert.deepEqual(
    [mistral!.label, mistral!.apiKey, mistral!.dialect],
    ['Mistral', 'mistral-test', 'openai'],
  )
  assert.equal(ollama!.apiKey, 'none', 'a vendor that names no key needs none')
  assert.equal(groq!.defaultModel, 'llama-3.3-70b-versatile')
  assert.deepEqual(ai.aliases.get('fast')?.routes, [
    { vendor: 'groq', model: 'llama-3.1-8b-instant' },
  ])
})

test('docs/models.md describes every field of the example file', () => {
  const words = readFileSync(resolve(DOCS, '../models.md'), 'utf8')
  const { vendors } = JSON.parse(readFileSync(DOCS, 'utf8'))
  for (const vendor of vendors)
    for (const field of Object.keys(vendor)) assert.ok(words.includes(`\`${field}\``), field)
})

test('the examples of docs/models.md and the prepared vendors work', (t) => {
  const { vendors } = JSON.parse(readFileSync(resolve(DOCS, '../vendors.json'), 'utf8'))
  const words = readFileSync(resolve(DOCS, '../models.md'), 'utf8')
  const blocks = words.split('```json\n').slice(1)
  const examples = blocks.map((block) => JSON.parse(block.slice(0, block.indexOf('```'))))
  assert.equal(examples.length, 2)
  for (const example of examples) {
    const contents = 'name' in example ? { vendors: [example] } : { vendors, ...example }
    const { ai } = readConfig({
      MODELS: fileOf(t, contents),
      OPENAI_API_KEY: 'a',
      OPENAI_EU_KEY: 'b',
    })
    if ('name' in example)
      assert.deepEqual(
        ai.vendors.openai!.endpoints.map(({ name }) => name),
        ['openai#main', 'openai#eu'],
      )
    else
      assert.deepEqual(
        [...ai.aliases.values()].map(({ by }) => by),
        ['latency', 'price', 'weight', 'order'],
      )
  }
  for (const { name, api_key_env: setting } of vendors) {
    assert.ok(words.includes(setting === undefined ? `| none |` : `\`${setting}\``), name)
  }
})

test('a vendor without its key is not configured, or played by the sandbox in its dialect', () => {
  assert.equal(readConfig({ MODELS: DOCS, SANDBOX: 'off' }).ai.vendors.groq!.apiKey, null)
  const played = readConfig({ MODELS: DOCS }).ai.vendors
  assert.deepEqual([played.groq!.sandboxed, played.ollama!.sandboxed], [true, false])
  assert.equal(played.groq!.baseUrl, 'http://127.0.0.1:8000/sandbox/openai/v1')
})

test('a vendor may have several endpoints, in the file or by several keys in its setting', (t) => {
  const groq = {
    name: 'groq',
    dialect: 'openai',
    base_url: 'http://127.0.0.1:1/v1',
    api_key_env: 'GROQ_API_KEY',
    endpoints: [
      {},
      { name: 'eu', base_url: 'http://127.0.0.1:2/v1/', api_key_env: 'GROQ_EU_KEY', weight: 0.5 },
    ],
    models: [{ id: 'm' }],
  }
  const MODELS = fileOf(t, {
    vendors: [groq, { name: 'openai', endpoints: [{ name: 'a' }, { name: 'b' }] }],
  })
  const read = (env: Record<string, string>) =>
    readConfig({ MODELS, SANDBOX: 'off', ...env }).ai.vendors
  const [one, eu] = [
    { name: 'groq#1', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k1', weight: 1 },
    { name: 'groq#eu', baseUrl: 'http://127.0.0.1:2/v1', apiKey: 'k2', weight: 0.5 },
  ]
  assert.deepEqual(read({ GROQ_API_KEY: 'k1', GROQ_EU_KEY: 'k2' }).groq!.endpoints, [one, eu])
  assert.deepEqual(
    read({ GROQ_EU_KEY: 'k2' }).groq!.endpoints,
    [eu],
    'one whose key is not set is left out',
  )
  assert.deepEqual(read({ GROQ_API_KEY: 'k1' }).groq!.endpoints, [{ ...one, name: 'groq' }])
  assert.deepEqual([read({}).groq!.endpoints, read({}).groq!.apiKey], [[], null])
  const moved = read({ GROQ_BASE_URL: 'http://127.0.0.1:3/v1', GROQ_EU_KEY: 'k2' }).groq!.endpoints
  assert.deepEqual(
    moved.map(({ baseUrl, apiKey }) => [baseUrl, apiKey]),
    [
      ['http://127.0.0.1:3/v1', 'none'],
      ['http://127.0.0.1:2/v1', 'k2'],
    ],
  )

  const { openai, anthropic } = read({ OPENAI_API_KEY: 'k1, k2,', ANTHROPIC_API_KEY: 'k3,k4' })
  assert.deepEqual(
    [...openai!.endpoints, ...anthropic!.endpoints].map(({ name, apiKey }) => `${name} ${apiKey}`),
    [
      'openai#a-1 k1',
      'openai#a-2 k2',
      'openai#b-1 k1',
      'openai#b-2 k2',
      'anthropic#1 k3',
      'anthropic#2 k4',
    ],
  )
  assert.equal(readConfig({ MODELS }).ai.vendors.openai!.endpoints[0]?.apiKey, 'sandbox')
})

test('a vendor’s own settings override the file', () => {
  const env = { MODELS: DOCS, GROQ_BASE_URL: 'http://127.0.0.1:9/v1/', GROQ_MODEL: 'qwen-4' }
  const { groq } = readConfig(env).ai.vendors
  assert.deepEqual(
    [groq!.baseUrl, groq!.defaultModel, groq!.apiKey],
    ['http://127.0.0.1:9/v1', 'qwen-4', 'none'],
  )
  assert.equal(
    readConfig({ MODELS: DOCS, GROQ_MODEL: 'fast' }).ai.vendors.groq!.defaultModel,
    'llama-3.1-8b-instant',
  )
  assert.throws(
    () => readConfig({ MODELS: DOCS, OPENAI_MODEL: 'fast' }),
    /OPENAI_MODEL names 'fast'/,
  )
})

test('every setting that names a vendor accepts the file’s vendors and aliases', () => {
  const env = {
    ...KEYS,
    MODELS: DOCS,
    LLM_VENDORS: 'fast,google,groq/qwen-4',
    LLM_FALLBACKS: 'mistral,smart,groq/a/b',
  }
  const { ai } = readConfig(env)
  assert.deepEqual(ai.slots.slice(0, 4), [
    { vendor: 'groq', model: 'llama-3.1-8b-instant' },
    { vendor: 'gemini', model: 'gemini-3.8-flash' },
    { vendor: 'groq', model: 'qwen-4' },
    { vendor: 'openai', model: 'gpt-6.1-terra' },
  ])
  assert.equal(
    ai.vendors.groq!.defaultModel,
    'llama-3.1-8b-instant',
    'what is shown as usual is what answers',
  )
  assert.deepEqual(ai.fallbacks, [
    { vendor: 'mistral', model: 'mistral-small-latest' },
    { vendor: 'anthropic', model: 'claude-sonnet-5-5' },
    { vendor: 'groq', model: 'a/b' },
  ])
  assert.deepEqual(chooseRoute(ai, { tier: 'enterprise' }, 'llm_vendor_3', null), {
    vendor: 'groq',
    model: 'qwen-4',
  })
  const embedder = (EMBEDDER: string) =>
    readConfig({ ...KEYS, GEMINI_API_KEY: 'AIza', MODELS: DOCS, EMBEDDER }).embedder
  assert.equal(embedder('mistral:mistral-embed'), 'mistral:mistral-embed')
  assert.equal(embedder('ollama:nomic:v1.5'), 'ollama:nomic:v1.5')
  assert.equal(embedder('embed'), 'mistral:mistral-embed')
  assert.equal(embedder('google:gemini-embedding-2'), 'gemini:gemini-embedding-2')
  assert.throws(
    () => embedder('fast'),
    /EMBEDDER=fast: llama-3.1-8b-instant is no model for embeddings/,
  )
  assert.throws(() => embedder('smart'), /anthropic has no embeddings/)
  assert.throws(() => embedder('slow'), /EMBEDDER is wrong: expected auto, local, vendor:MODEL/)
})

test('an alias may name several models, and lists apply to each of them', (t) => {
  const MODELS = fileOf(t, {
    aliases: {
      any: {
        models: ['openai/gpt-6-luna', 'gemini/gemini-3.8-flash', 'anthropic/claude-haiku-5-5'],
      },
    },
    allow: { pro: ['gemini/*', 'claude-*'], free: ['any'] },
  })
  const keys = { OPENAI_API_KEY: 'sk', GEMINI_API_KEY: 'AIza', SANDBOX: 'off' }
  const { ai } = readConfig({
    MODELS,
    ...keys,
    LLM_VENDORS: 'any',
    LLM_FALLBACKS: 'any',
    OPENAI_MODEL: 'any',
  })
  const [luna, flash, haiku] = ai.aliases.get('any')!.routes
  const any = { ...luna!, alias: 'any' }
  assert.deepEqual(ai.slots[0], any)
  assert.deepEqual(ai.fallbacks, [luna, flash, haiku])
  assert.equal(ai.vendors.openai!.defaultModel, 'gpt-6-luna')
  assert.deepEqual(findRouteByName(ai, { tier: 'enterprise' }, 'any'), any)
  assert.deepEqual(
    chooseRoute(ai, { tier: 'pro' }, null, null),
    any,
    'one of its models is allowed',
  )
  assert.deepEqual(chooseRoute(ai, { tier: 'pro' }, 'gemini', 'any'), any)
  assert.throws(
    () => readConfig({ MODELS, ...keys, EMBEDDER: 'any' }),
    /EMBEDDER=any: an alias of several models/,
  )

  assert.deepEqual(findRoutes(ai, { tier: 'enterprise' }, any), [luna, flash], 'haiku has no key')
  assert.deepEqual(findRoutes(ai, { tier: 'pro' }, any), [flash])
  assert.deepEqual(findRoutes(ai, { tier: 'free' }, any), [luna, flash])
  assert.deepEqual(findRoutes(ai, { tier: 'free', models: ['gpt-6-luna'] }, any), [luna])
  const shut = { tier: 'free', models: ['nothing'] }
  assert.throws(
    () => findRoutes(ai, shut, any),
    /'gpt-6-luna' is not part of this API key's models/,
  )
  assert.throws(
    () => findRoutes(ai, { tier: 'pro', models: ['claude-*'] }, any),
    /'anthropic' is not configured/,
  )
})

test('the sandbox does not answer for an alias with a real vendor', (t) => {
  const MODELS = fileOf(t, {
    aliases: { any: { models: ['openai/gpt-6-luna', 'gemini/gemini-3.8-flash'] } },
  })
  const { ai } = readConfig({ MODELS, GEMINI_API_KEY: 'AIza' })
  const any = findRouteByName(ai, { tier: 'pro' }, 'any')
  assert.deepEqual(findRoutes(ai, { tier: 'pro' }, any), [
    { vendor: 'gemini', model: 'gemini-3.8-flash' },
  ])
})

test('finds a model’s vendor by alias, list, vendor prefix or maker', (t) => {
  const groq = {
    dialect: 'openai',
    base_url: 'http://127.0.0.1:9',
    // As a router of vendors lists them.
    models: [{ id: 'openai/gpt-oss' }, { id: 'shared' }, { id: 'openai/gpt-6-luna' }],
  }
  const MODELS = fileOf(t, {
    vendors: [
      { name: 'groq', ...groq },
      { name: 'other', ...groq, api_key_env: 'OTHER_API_KEY' },
    ],
    aliases: { fast: 'groq/openai/gpt-oss' },
    allow: { pro: ['openai/gpt-6-luna'], free: ['openai/gpt-oss'] },
  })
  const { ai } = readConfig({
    MODELS,
    SANDBOX: 'off',
    LLM_VENDORS: 'other,groq',
    OPENAI_API_KEY: 'sk',
  })
  const ways: [name: string, vendor: string, model: string][] = [
    ['fast', 'groq', 'openai/gpt-oss'],
    ['shared', 'groq', 'shared'],
    ['openai/gpt-oss', 'groq', 'openai/gpt-oss'],
    ['other/shared', 'other', 'shared'],
    ['openai/gpt-6-luna', 'openai', 'gpt-6-luna'],
    ['google/', 'gemini', 'gemini-3.8-flash'],
    ['llm_vendor_2/x', 'groq', 'x'],
    ['claude-9', 'anthropic', 'claude-9'],
    ['gpt-6-luna-2026-09-22', 'openai', 'gpt-6-luna-2026-09-22'],
    ['BAAI/bge-m3', 'other', 'BAAI/bge-m3'],
    ['constructor', 'other', 'constructor'],
    ['__proto__/x', 'other', '__proto__/x'],
  ]
  for (const [name, vendor, model] of ways) {
    assert.deepEqual(findRouteByName(ai, { tier: 'enterprise' }, name), { vendor, model }, name)
  }
  const luna = { vendor: 'openai', model: 'gpt-6-luna' }
  assert.deepEqual(
    [
      isAllowed(ai, { tier: 'pro' }, luna),
      isAllowed(ai, { tier: 'pro' }, { vendor: 'groq', model: 'openai/gpt-6-luna' }),
    ],
    [true, false],
  )
  assert.equal(isAllowed(ai, { tier: 'free' }, { vendor: 'groq', model: 'openai/gpt-oss' }), true)
})

test('finds a vendor’s default model that is not listed', (t) => {
  const groq = {
    name: 'groq',
    dialect: 'openai',
    base_url: 'http://127.0.0.1:9/v1',
    default_model: 'llama-special',
    models: [{ id: 'm' }],
  }
  const { ai } = readConfig({ MODELS: fileOf(t, { vendors: [groq] }), LLM_VENDORS: 'openai,groq' })
  assert.deepEqual(findRouteByName(ai, { tier: 'pro' }, 'llama-special'), {
    vendor: 'groq',
    model: 'llama-special',
  })
})

test('a plan’s list applies to every name of a model, and patterns have no gaps', () => {
  const { ai } = readConfig({ ...KEYS, MODELS: DOCS })
  const asked: Record<string, boolean> = {
    'groq/llama-3.1-8b-instant': true,
    'groq/llama-3.3-70b-versatile': false,
    'mistral/anything': true,
    'openai/gpt-6-luna': true,
    'openai/gpt-6-luna-2026-09-22': true,
    'openai/gpt-6-lunatic': false,
    'openai/GPT-6-luna': false,
    'openai/mistral/anything': false,
    'anthropic/claude-sonnet-5-5': false,
    'openai/text-embedding-3-large': true,
  }
  for (const [name, isOpen] of Object.entries(asked)) {
    const [vendor = '', ...model] = name.split('/')
    const route = { vendor, model: model.join('/') }
    assert.equal(isAllowed(ai, { tier: 'pro' }, route), isOpen, name)
    assert.equal(isAllowed(ai, { tier: 'enterprise' }, route), true)
  }
})

test('uses the first model of a plan that excludes the default, and skips fallbacks outside it', () => {
  const { ai } = readConfig({
    ...KEYS,
    MODELS: DOCS,
    OPENAI_API_KEY: 'sk',
    LLM_FALLBACKS: 'smart,mistral,groq',
  })
  const fast = { vendor: 'groq', model: 'llama-3.1-8b-instant' }
  assert.deepEqual(chooseRoute(ai, { tier: 'pro' }, null, null), fast)
  assert.deepEqual(chooseRoute(ai, { tier: 'pro' }, 'openai', null), {
    vendor: 'openai',
    model: 'gpt-6-luna',
  })
  assert.deepEqual(chooseRoute(ai, { tier: 'enterprise' }, null, null), {
    vendor: 'openai',
    model: 'gpt-6.1-terra',
  })
  assert.deepEqual(findRoutes(ai, { tier: 'pro' }, fast), [
    fast,
    { vendor: 'mistral', model: 'mistral-small-latest' },
  ])
  assert.throws(
    () => findRoutes(ai, { tier: 'pro' }, { vendor: 'groq', model: 'x' }),
    /The model 'x' is not part of your plan/,
  )
})

test('uses the vendor’s price, then the vendor’s highest, then the highest of all', (t) => {
  const one = { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1' }
  const MODELS = fileOf(t, {
    vendors: [
      {
        name: 'dear',
        ...one,
        models: [{ id: 'gpt-6-luna', price: { input: 3, output: 9 } }, { id: 'unpriced' }],
      },
      { name: 'silent', ...one, models: [{ id: 'm' }] },
      { name: 'openai', models: [{ id: 'gpt-6-luna', price: { input: 7, output: 7 } }] },
    ],
  })
  const { ai } = readConfig({ MODELS })
  const usage = { prompt: 1_000_000, completion: 0, cached: 0, cacheWrites: 0 }
  const cost = (vendor: string, ...names: string[]) => computeCost(ai, vendor, names, usage)
  assert.deepEqual(cost('dear', 'gpt-6-luna'), { usd: 3, isListed: true })
  assert.deepEqual(
    cost('openai', 'gpt-6-luna'),
    { usd: 7, isListed: true },
    'a built-in price is replaced',
  )
  assert.deepEqual(cost('dear', 'called otherwise', 'gpt-6-luna'), { usd: 3, isListed: true })
  assert.deepEqual(cost('dear', 'unpriced'), { usd: 3, isListed: false })
  const dearest = cost('silent', 'm')
  assert.equal(dearest.isListed, false)
  assert.equal(
    dearest.usd,
    Math.max(...Object.keys(ai.vendors).map((vendor) => cost(vendor, 'nobody knows').usd)),
  )
})

test('an entry for a known model keeps the fields that it omits', (t) => {
  const similarity = { unrelated: 0.2, answers: 0.4 }
  const price = { input: 1 }
  const models = [
    { id: 'gemini-embedding-2', similarity },
    { id: 'gemini-3.8-flash', quirks: { vision: false } },
    { id: 'gemini-3.5-flash-lite', kind: 'rerank' },
  ]
  const openAi = [{ id: 'text-embedding-3-small', price }]
  const file = {
    vendors: [
      { name: 'gemini', models },
      { name: 'openai', models: openAi },
    ],
  }
  const before = readConfig({}).ai
  const after = readConfig({ MODELS: fileOf(t, file) }).ai
  const of = (ai: typeof before, vendor: string, id: string) => {
    const model = ai.vendors[vendor]?.models.find((model) => model.id === id)
    assert.ok(model, id)
    return model
  }
  const embedder = of(before, 'gemini', 'gemini-embedding-2')
  assert.ok(embedder.embedding?.tasks && embedder.price)
  assert.deepEqual(of(after, 'gemini', 'gemini-embedding-2'), {
    ...embedder,
    embedding: { ...embedder.embedding, similarity },
  })
  const small = of(before, 'openai', 'text-embedding-3-small')
  assert.deepEqual(of(after, 'openai', 'text-embedding-3-small'), {
    ...small,
    price: { input: 1, cached: 1, output: 0 },
  })
  const chat = of(before, 'gemini', 'gemini-3.8-flash')
  const { quirks, embedding: _, ...rest } = of(after, 'gemini', 'gemini-3.8-flash')
  const { quirks: usual, ...same } = chat
  assert.deepEqual(rest, same)
  assert.deepEqual(Object.keys(quirks), Object.keys(usual))
  assert.notDeepEqual(quirks, usual)
  // A model of another kind is another model.
  assert.deepEqual(of(after, 'gemini', 'gemini-3.5-flash-lite').quirks, {})
})

test('a named part of the price list overrides the vendor’s own prices, and the entry overrides both', (t) => {
  const list = {
    as_of: '2026-01-01',
    source: 'a test',
    vendors: {
      proxy: [{ id: 'gpt-6-luna', context_tokens: 9_000, price: { input: 70, output: 90 } }],
    },
  }
  const read = (model: object, more: object = {}) => {
    const MODELS = fileOf(t, {
      vendors: [{ name: 'openai', models: [{ id: 'gpt-6-luna', ...model }], ...more }],
    })
    const { ai } = readConfig({ MODELS, PRICES: fileOf(t, list) })
    const { price, contextTokens } =
      ai.vendors.openai?.models.find(({ id }) => id === 'gpt-6-luna') ?? {}
    return [price?.input, price?.output, contextTokens]
  }
  const own = read({})
  assert.notEqual(own[0], 70)
  assert.deepEqual(read({}, { price_list: 'proxy' }), [70, 90, 9_000])
  assert.deepEqual(read({ price: { input: 1, output: 2 } }, { price_list: 'proxy' }), [1, 2, 9_000])
  assert.deepEqual(read({ context_tokens: 5_000 }), [own[0], own[1], 5_000])
})

const VENDOR = {
  name: 'groq',
  dialect: 'openai',
  base_url: 'https://x.example/v1',
  models: [{ id: 'a' }],
}
const WRONG: [contents: unknown, says: RegExp][] = [
  ['{', /^MODELS: the file is not valid JSON/],
  [[], /^MODELS: the file is wrong: expected an object, got \[\]$/],
  [{ vendor: [] }, /^MODELS: vendor is unknown: expected vendors, aliases, allow$/],
  [{ vendors: {} }, /^MODELS: vendors is wrong: expected a list/],
  [
    { vendors: [{ ...VENDOR, name: 'Groq' }] },
    /^MODELS: vendors\[0\]\.name is wrong: .*, got "Groq"$/,
  ],
  [
    { vendors: [{ ...VENDOR, name: 'google' }] },
    /^MODELS: vendors\[0\]\.name is wrong: .* unused name/,
  ],
  [{ vendors: [{ ...VENDOR, name: 'llm_vendor_1' }] }, /^MODELS: vendors\[0\]\.name is wrong/],
  [{ vendors: [VENDOR, VENDOR] }, /^MODELS: vendors\[1\]\.name is wrong: 'groq' is listed twice$/],
  [
    {
      vendors: [{ ...VENDOR, models: [{ id: 'e', similarity: { unrelated: 0.5, answers: 0.3 } }] }],
    },
    /^MODELS: vendors\[0\]\.models\[0\]\.similarity is wrong: expected two cosines/,
  ],
  [
    {
      vendors: [
        {
          ...VENDOR,
          models: [{ id: 'e', tasks: { member: 'in put', query: 'a', document: 'b' } }],
        },
      ],
    },
    /^MODELS: vendors\[0\]\.models\[0\]\.tasks\.member is wrong: expected the name of a member/,
  ],
  [
    { vendors: [{ ...VENDOR, dialect: 'cohere' }] },
    /^MODELS: vendors\[0\]\.dialect is wrong: expected one of openai,/,
  ],
  [
    { vendors: [{ name: 'openai', dialect: 'gemini' }] },
    /^MODELS: vendors\[0\]\.dialect is wrong: expected 'openai'/,
  ],
  [
    { vendors: [{ ...VENDOR, base_url: 'x.example' }] },
    /^MODELS: vendors\[0\]\.base_url is wrong: expected an address/,
  ],
  [
    { vendors: [{ ...VENDOR, base_url: undefined }] },
    /^MODELS: vendors\[0\]\.base_url is wrong: .*, got nothing$/,
  ],
  [
    { vendors: [{ ...VENDOR, api_key: 'gsk' }] },
    /^MODELS: vendors\[0\]\.api_key is unknown: expected name, /,
  ],
  [
    { vendors: [{ ...VENDOR, api_key_env: 'groq key' }] },
    /^MODELS: vendors\[0\]\.api_key_env is wrong/,
  ],
  [
    { vendors: [{ ...VENDOR, models: [] }] },
    /^MODELS: vendors\[0\]\.models is wrong: expected one model or more$/,
  ],
  [
    { vendors: [{ ...VENDOR, models: [{ id: 'a' }, { id: 'a' }] }] },
    /^MODELS: vendors\[0\]\.models\[1\]\.id is wrong/,
  ],
  [
    { vendors: [{ ...VENDOR, models: [{ id: 'a', kind: 'image' }] }] },
    /models\[0\]\.kind is wrong: expected one of chat/,
  ],
  [
    { vendors: [{ ...VENDOR, models: [{ id: 'a', context_tokens: '8k' }] }] },
    /models\[0\]\.context_tokens is wrong/,
  ],
  [
    { vendors: [{ ...VENDOR, models: [{ id: 'a', price: { input: -1 } }] }] },
    /^MODELS: vendors\[0\]\.models\[0\]\.price\.input is wrong: expected US dollars per million tokens, got -1$/,
  ],
  // Answers without a price would be free, and no budget would limit them.
  [
    { vendors: [{ ...VENDOR, models: [{ id: 'a', price: { input: 5 } }] }] },
    /models\[0\]\.price\.output is wrong/,
  ],
  [
    { vendors: [{ name: 'gemini', models: [{ id: 'gemini-3.8-flash', price: { input: 5 } }] }] },
    /models\[0\]\.price\.output is wrong: expected US dollars per million tokens, got nothing$/,
  ],
  [
    {
      vendors: [
        {
          ...VENDOR,
          models: [{ id: 'a', price: { input: 5, output: 9, long: { above: 9, input: 9 } } }],
        },
      ],
    },
    /price\.long\.output is wrong/,
  ],
  [
    { vendors: [{ ...VENDOR, quirks: { thinking: 'none' } }] },
    /vendors\[0\]\.quirks\.thinking is unknown/,
  ],
  [
    { vendors: [{ ...VENDOR, quirks: { refuses: ['messages'] } }] },
    /quirks\.refuses\[0\] is wrong: expected a member that/,
  ],
  [
    { vendors: [{ ...VENDOR, quirks: { refuses: 'stop' } }] },
    /vendors\[0\]\.quirks\.refuses is wrong: expected a list/,
  ],
  [
    { vendors: [{ ...VENDOR, quirks: { adds: { model: 'x' } } }] },
    /vendors\[0\]\.quirks\.adds\.model is wrong: expected a/,
  ],
  [
    { vendors: [{ ...VENDOR, endpoints: [{ weight: -1 }] }] },
    /^MODELS: vendors\[0\]\.endpoints\[0\]\.weight is wrong: expected a number from 0 to 1,000,000, got -1$/,
  ],
  [
    { vendors: [{ ...VENDOR, endpoints: [{ weight: 0 }] }] },
    /endpoints is wrong: at least one needs a weight above 0/,
  ],
  [
    { vendors: [{ ...VENDOR, endpoints: [{ key: 'sk-1' }] }] },
    /vendors\[0\]\.endpoints\[0\]\.key is unknown/,
  ],
  [
    { vendors: [{ ...VENDOR, endpoints: [{ base_url: 'x' }] }] },
    /endpoints\[0\]\.base_url is wrong: expected an addr/,
  ],
  [
    { vendors: [{ ...VENDOR, endpoints: [{ name: 'a' }, { name: 'a' }] }] },
    /endpoints\[1\]\.name is wrong: it is listed/,
  ],
  [
    { aliases: { fast: 'groq/a' } },
    /^MODELS: aliases\.fast is wrong: expected 'vendor\/model' of openai, /,
  ],
  [
    { vendors: [VENDOR], aliases: { groq: 'groq/a' } },
    /^MODELS: aliases\.groq is wrong: 'groq' is the name of a vendor/,
  ],
  [{ vendors: [VENDOR], aliases: { a: 'groq/a' } }, /^MODELS: aliases\.a is wrong/],
  [{ vendors: [VENDOR], aliases: { fast: 'smart' } }, /^MODELS: aliases\.fast is wrong/],
  [
    { aliases: { any: { models: [] } } },
    /^MODELS: aliases\.any\.models is wrong: expected one model or more$/,
  ],
  [
    { aliases: { any: { models: ['fast', 'openai/a'] } } },
    /^MODELS: aliases\.any\.models\[0\] is wrong: expected 'vend/,
  ],
  [
    { aliases: { any: { models: ['openai/a', 'openai/a'] } } },
    /aliases\.any\.models\[1\] is wrong: it is listed tw/,
  ],
  [
    { aliases: { any: { models: ['openai/a'], by: 'luck' } } },
    /aliases\.any\.by is wrong: expected one of order, weight/,
  ],
  [
    { aliases: { any: { models: ['openai/a'], weights: [1] } } },
    /aliases\.any\.weights is wrong: expected one for each/,
  ],
  [
    { aliases: { any: { models: ['openai/a', 'gemini/b'], by: 'weight', weights: [1] } } },
    /aliases\.any\.weights is wrong: expected one for each of its models/,
  ],
  [
    { aliases: { any: { models: ['openai/a', 'gemini/b'], by: 'weight', weights: [0, 0] } } },
    /aliases\.any\.weights is wrong: at least one must be above 0/,
  ],
  [
    {
      aliases: { any: { models: ['openai/text-embedding-3-small', 'gemini/gemini-embedding-2'] } },
    },
    /aliases\.any\.models\[0\] is wrong: vectors of different models cannot be compared/,
  ],
  [
    { allow: { gold: [] } },
    /^MODELS: allow\.gold is wrong: expected one of free, pro, enterprise$/,
  ],
  [{ allow: { pro: 'fast' } }, /^MODELS: allow\.pro is wrong: expected a list, got "fast"$/],
  [{ allow: { pro: [7] } }, /^MODELS: allow\.pro\[0\] is wrong/],
]

for (const [contents, says] of WRONG) {
  test(`rejects a wrong file at the start with the path: ${says.source.slice(0, 70)}`, (t) => {
    const MODELS = fileOf(t, contents)
    assert.throws(
      () => readConfig({ MODELS }),
      (error: Error) =>
        error instanceof ConfigError && says.test(error.message) && !error.message.includes('\n'),
    )
  })
}

test('rejects a missing file at the start', () => {
  assert.throws(() => readConfig({ MODELS: '/nowhere.json' }), /MODELS: cannot be read: ENOENT/)
})
