// The price list: the shipped one, the operator's, and which of them counts.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { computeCost } from '#ai/cost.ts'
import { run } from '#cli/prices.ts'
import { ConfigError, priceFiles, readConfig } from '#config/config.ts'
import { BUILT_IN } from './built-in.ts'
import { findKnownModel } from './catalogue.ts'
import { checkPriceList, readPriceList } from './price-list.ts'
import { convertPriceList } from './price-sources.ts'

const SHIPPED = join(import.meta.dirname, 'prices.json')
const MILLION = { prompt: 1_000_000, completion: 1_000_000, cached: 0, cacheWrites: 0 }

function folderOf(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-prices-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the shipped list is valid, and agrees with the built-in models', () => {
  const file = checkPriceList(JSON.parse(readFileSync(SHIPPED, 'utf8')), SHIPPED)
  assert.ok(Object.values(file.vendors).flat().length > 1_000)
  const list = readPriceList({ named: null, usual: '/nowhere' })
  assert.equal(list.asOf, file.as_of)
  let both = 0
  for (const { name, models } of BUILT_IN) {
    for (const { id, price } of models) {
      const listed = list.getPrices(name).find(id)?.price
      if (listed == null) continue
      both++
      assert.deepEqual(listed, price, `${name}/${id}`)
    }
  }
  assert.ok(both > 10, `${both}`)
})

test('uses the list’s price and limits for unlisted models, and the vendor’s highest price for unknown ones', () => {
  const { ai } = readConfig({})
  const cost = (vendor: string, name: string) => computeCost(ai, vendor, [name], MILLION)
  assert.deepEqual(cost('openai', 'gpt-4o'), { usd: 12.5, isListed: true })
  assert.deepEqual(cost('openai', 'gpt-4o-2024-11-20'), { usd: 12.5, isListed: true })
  assert.deepEqual(cost('anthropic', 'claude-3-5-haiku-20241022'), { usd: 4.8, isListed: true })
  assert.equal(findKnownModel(ai, 'openai', 'gpt-4o')?.contextTokens, 128_000)
  const nobodys = cost('openai', 'gpt-nobody')
  assert.equal(nobodys.isListed, false)
  assert.ok(
    nobodys.usd >= 50 && nobodys.usd < 200,
    `${nobodys.usd}: by the models that are offered, not by any there ever was`,
  )
  for (const name of ['constructor', '__proto__', ''])
    assert.equal(cost('gemini', name).isListed, false)
})

test('the MODELS file overrides the list, the list fills its gaps, and a vendor may use another’s part', (t) => {
  const path = join(folderOf(t), 'models.json')
  const entry = { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key_env: 'SOME_KEY' }
  const vendors: object[] = [
    {
      name: 'groq',
      ...entry,
      models: [
        { id: 'llama-3.1-8b-instant' },
        { id: 'qwen/qwen3-32b', price: { input: 7, output: 0 } },
      ],
    },
    { name: 'mine', ...entry, price_list: 'groq', models: [{ id: 'llama-3.3-70b-versatile' }] },
    { name: 'openrouter', ...entry, models: [{ id: 'my-own' }] },
    {
      name: 'home',
      ...entry,
      api_key_env: null,
      models: [{ id: 'llama', price: { input: 0, output: 0 } }],
    },
  ]
  writeFileSync(path, JSON.stringify({ vendors }))
  const { ai } = readConfig({ MODELS: path })
  const cost = (vendor: string, name: string) => computeCost(ai, vendor, [name], MILLION)
  assert.equal(cost('groq', 'llama-3.1-8b-instant').usd.toFixed(2), '0.13')
  assert.equal(cost('groq', 'qwen/qwen3-32b').usd, 7)
  assert.equal(cost('mine', 'llama-3.3-70b-versatile').usd.toFixed(2), '1.38')
  assert.equal(cost('mine', 'llama-3.1-8b-instant').isListed, true)
  assert.ok(
    cost('openrouter', 'my-own').usd > 1,
    'what has no price counts at the dearest of its vendor’s list',
  )
  assert.deepEqual(
    cost('home', 'gpt-4o'),
    { usd: 0, isListed: false },
    'a local server has no prices for other vendors’ models',
  )
  const wrong = [{ ...vendors[1], price_list: 'nobody' }]
  writeFileSync(path, JSON.stringify({ vendors: wrong }))
  assert.throws(
    () => readConfig({ MODELS: path }),
    /MODELS: vendors\[0\]\.price_list is wrong: expected one of openai, /,
  )
})

const own = (asOf: string, input: unknown) => ({
  as_of: asOf,
  source: 'a test',
  vendors: { openai: [{ id: 'gpt-6-luna', also: ['luna'], price: { input, output: 1 } }] },
})

test('uses the newer of the installed and the shipped list, or the one that PRICES names', (t) => {
  const DATA_DIR = folderOf(t)
  const luna = (env: Record<string, string> = {}) => {
    const { ai } = readConfig({ DATA_DIR, ...env })
    return [computeCost(ai, 'openai', ['gpt-6-luna'], MILLION).usd, ai.pricesAsOf]
  }
  const path = join(DATA_DIR, 'prices.json')
  assert.deepEqual(luna()[1], '2026-11-20')
  writeFileSync(path, JSON.stringify(own('2027-02-01', 9)))
  assert.deepEqual(luna(), [10, '2027-02-01'])
  assert.equal(computeCost(readConfig({ DATA_DIR }).ai, 'openai', ['luna'], MILLION).usd, 10)
  writeFileSync(path, JSON.stringify(own('2025-02-01', 9)))
  assert.ok(Number(luna()[0]) < 2)
  writeFileSync(join(DATA_DIR, 'named.json'), JSON.stringify(own('2025-02-01', 9)))
  assert.equal(
    computeCost(
      readConfig({ PRICES: join(DATA_DIR, 'named.json') }).ai,
      'openai',
      ['luna'],
      MILLION,
    ).usd,
    10,
  )
  for (const input of [-1, 'free', null, Number.MAX_VALUE * 10]) {
    writeFileSync(path, JSON.stringify(own('2027-02-01', input)))
    assert.throws(() => readConfig({ DATA_DIR }), ConfigError, `${input}`)
  }
  writeFileSync(path, '{"as_of": ')
  assert.throws(() => readConfig({ DATA_DIR }), /^Error: PRICES: .*prices\.json is not valid JSON/)
  assert.throws(
    () => readConfig({ PRICES: '/nowhere.json' }),
    /PRICES: \/nowhere\.json does not exist/,
  )
})

const GENAI = [
  {
    id: 'x-ai',
    models: [
      {
        id: 'grok-9',
        match: {
          or: [
            { equals: 'grok-nine' },
            { starts_with: 'grok-9' },
            { starts_with: 'grok-9-' },
            { contains: 'x' },
          ],
        },
        context_window: 1_000,
        prices: [
          { prices: { input_mtok: 9, output_mtok: 9 } },
          {
            constraint: { start_date: '2026-01-01' },
            prices: { input_mtok: 1, output_mtok: 4, cache_read_mtok: 0.1 },
          },
          {
            constraint: { start_time: '01:00', end_time: '04:00' },
            prices: { input_mtok: 2, output_mtok: 8 },
          },
          { constraint: { start_date: '2030-01-01' }, prices: { input_mtok: 70, output_mtok: 70 } },
        ],
      },
      {
        id: 'grok-long',
        prices: {
          input_mtok: {
            base: 1,
            tiers: [
              { start: 128_000, price: 2 },
              { start: 256_000, price: 3 },
            ],
          },
          output_mtok: 5,
          cache_read_mtok: { base: 0.1, tiers: [{ start: 128_000, price: 0.2 }] },
        },
      },
      { id: 'grok-voice', prices: { audio_hours: 3 } },
      { id: 'grok-gift', prices: { input_mtok: 0, output_mtok: 0 } },
      { id: 'grok-gift:free', prices: { input_mtok: 0, output_mtok: 0 } },
      { id: 'grok-embed', prices: { input_mtok: 0.1 } },
    ],
  },
]

test('reads genai-prices: current prices at their highest, steps and other names; drops models without token prices', () => {
  const { vendors } = convertPriceList(GENAI, '2026-11-04', '2026-11-22')
  assert.deepEqual(vendors, {
    xai: [
      { id: 'grok-9', also: ['grok-nine'], context_tokens: 1_000, price: { input: 2, output: 8 } },
      {
        id: 'grok-long',
        price: {
          input: 1,
          output: 5,
          cached: 0.1,
          long: { above: 128_000, input: 3, output: 5, cached: 0.2 },
        },
      },
      { id: 'grok-gift:free', price: { input: 0, output: 0 } },
      { id: 'grok-embed', kind: 'embedding', price: { input: 0.1 } },
    ],
  })
})

test('reads the prices of sound, images and video from both lists, at their highest', () => {
  const priced = {
    input_mtok: 1,
    output_mtok: 2,
    input_audio_mtok: 3,
    output_audio_mtok: 4,
    cache_audio_read_mtok: 0.5,
  }
  const provider = (id: string, models: object[]) => [{ id, models }]
  const read = (value: unknown, vendor: string) =>
    convertPriceList(value, '2026-11-04', '2026-11-22').vendors[vendor]?.map(({ id, price }) => [
      id,
      price,
    ])
  const hours = [
    { prices: priced },
    { constraint: { start_time: 'x' }, prices: { ...priced, input_audio_mtok: 6 } },
  ]
  assert.deepEqual(read(provider('openai', [{ id: 'm', prices: hours }]), 'openai'), [
    ['m', { input: 1, output: 2, audio: { input: 6, output: 4, cached: 0.5 } }],
  ])
  const drawing = {
    input_mtok: 1,
    output_mtok: 2,
    output_image_mtok: 30,
    input_video_mtok: { base: 5 },
  }
  assert.deepEqual(
    read(
      provider('google', [
        { id: 'gemini-9', prices: drawing },
        { id: 'gemma-9', prices: drawing },
      ]),
      'gemini',
    ),
    [
      [
        'gemini-9',
        { input: 1, output: 2, audio: 'as-text', image: { output: 30 }, video: { input: 5 } },
      ],
      ['gemma-9', { input: 1, output: 2, image: { output: 30 }, video: { input: 5 } }],
    ],
  )
  const cost = { input: 1, output: 2, input_audio: 3, output_audio: 4 }
  assert.deepEqual(read({ a: { id: 'a', models: { m: { id: 'm', cost } } } }, 'a'), [
    ['m', { input: 1, output: 2, audio: { input: 3, output: 4 } }],
  ])
})

test('reads models.dev with its limits, and rejects other formats and wrong prices', () => {
  const cost = {
    input: 2,
    output: 8,
    cache_read: 0.2,
    cache_write: 2.5,
    context_over_200k: { input: 4, output: 12 },
  }
  const models = {
    'm-1': { id: 'm-1', cost, limit: { context: 400_000, output: 32_000 } },
    'm-2': { id: 'm-2' },
  }
  const read = (value: unknown) => convertPriceList(value, '2026-11-04', '2026-11-22')
  assert.deepEqual(read({ google: { id: 'google', models } }).vendors, {
    gemini: [
      {
        id: 'm-1',
        price: {
          input: 2,
          output: 8,
          cached: 0.2,
          cache_write: 2.5,
          long: { above: 200_000, input: 4, output: 12 },
        },
        context_tokens: 400_000,
        output_tokens_max: 32_000,
      },
    ],
  })
  for (const value of [
    null,
    7,
    {},
    [],
    [7],
    { a: 1 },
    own('2026-01-01', 1),
    [{ id: 'a', models: [] }],
  ]) {
    assert.throws(() => read(value), /unknown price list|contains no price/, JSON.stringify(value))
  }
  for (const input of [-0.1, 'dear', Number.NaN]) {
    assert.throws(
      () => read({ a: { id: 'a', models: { m: { id: 'm', cost: { input, output: 1 } } } } }),
      /a\/m is not a price/,
    )
    assert.throws(
      () =>
        read([{ id: 'a', models: [{ id: 'm', prices: { input_mtok: input, output_mtok: 1 } }] }]),
      /a\/m input_mtok is not a price/,
    )
  }
})

const DAY_MS = 86_400_000
const TODAY = new Date().toISOString().slice(0, 10)
const luna = (more: object, price: object = { input: 1, output: 1 }) => ({
  as_of: TODAY,
  source: 'a test',
  vendors: { openai: [{ id: 'gpt-6-luna', price, ...more }] },
})

test('checks a whole list, and names the file and model of a fault', () => {
  const long = { above: 1_000, input: 2, output: 4 }
  assert.doesNotThrow(() =>
    checkPriceList(
      luna({ also: ['luna'], context_tokens: 9 }, { input: 1, output: 1, cached: 0.1, long }),
      '/a.json',
    ),
  )
  const wrong: [object, RegExp][] = [
    [luna({ also: 5 }), /wrong other names/],
    [luna({ also: ['luna', 7] }), /wrong other names/],
    [luna({ also: null }), /wrong other names/],
    [luna({ kind: 'embeddings' }), /wrong kind/],
    [luna({ output_tokens_max: 'x' }), /wrong output_tokens_max/],
    [luna({ context_tokens: 0 }), /wrong context_tokens/],
    [luna({ context_tokens: 1.5 }), /wrong context_tokens/],
    [luna({ price: null }), /no price/],
    [luna({ price: [] }), /no price/],
    [luna({}, { output: 1 }), /no price\.input/],
    [luna({}, { input: 1 }), /no price\.output/],
    [luna({}, { input: 1, output: 1, long: { above: 9, input: 2 } }), /no price\.long\.output/],
    [luna({}, { input: 1, cached: '0' }), /wrong price\.cached/],
    [luna({}, { input: 1, cachd: 0.1 }), /price\.cachd, which is none of/],
    [luna({}, { input: 1, output: 1, long: null }), /wrong price\.long/],
    [luna({}, { input: 1, output: 1, long: 7 }), /wrong price\.long/],
    [luna({}, { input: 1, output: 1, long: { input: 2 } }), /wrong price\.long\.above/],
    [luna({}, { input: 1, output: 1, long: { ...long, above: '9' } }), /wrong price\.long\.above/],
    [luna({}, { input: 1, output: 1, long: { ...long, above: 0 } }), /wrong price\.long\.above/],
    [luna({}, { input: 1, output: 1, long: { above: 9 } }), /no price\.long\.input/],
    [
      luna({}, { input: 1, output: 1, long: { ...long, cache_write: -1 } }),
      /wrong price\.long\.cache_write/,
    ],
  ]
  for (const [list, words] of wrong) {
    const told = (error: Error) =>
      words.test(error.message) &&
      error.message.startsWith('/a.json is not a price list: vendors.openai gpt-6-luna has ')
    assert.throws(() => checkPriceList(list, '/a.json'), told, JSON.stringify(list))
  }
  for (const model of [null, 7, 'gpt', {}, { id: '' }, { id: 7 }]) {
    assert.throws(
      () => checkPriceList({ ...luna({}), vendors: { openai: [model] } }, '/a.json'),
      /openai has a model without an id/,
    )
  }
})

/**
 * Runs the command with a list of these vendors in genai-prices' format. @returns its exit code and
 * its output
 */
function updater(folder: string, env: Record<string, string> = {}) {
  const said: string[] = []
  const files = () => priceFiles({ DATA_DIR: folder, ...env })
  const command = async (...args: string[]) => {
    said.length = 0
    const code = await run(args, { print: (line = '') => said.push(line) }, files())
    return { code, said: said.join('\n') }
  }
  const update = (vendors: Record<string, Record<string, object>>, ...more: string[]) => {
    const download = join(folder, 'data.json')
    const list = Object.entries(vendors).map(([id, models]) => ({
      id,
      models: Object.entries(models).map(([name, prices]) => ({ id: name, prices })),
    }))
    writeFileSync(download, JSON.stringify(list))
    return command('update', download, '--date', TODAY, ...more)
  }
  return { command, update }
}

test('the command installs a list: it shows changes, rejects jumps, and the next start uses it', async (t) => {
  const DATA_DIR = folderOf(t)
  const { update: updateAll } = updater(DATA_DIR)
  const update = (prices: object, ...more: string[]) =>
    updateAll({ openai: { 'gpt-4o': prices } }, ...more)
  const gpt = () => computeCost(readConfig({ DATA_DIR }).ai, 'openai', ['gpt-4o'], MILLION)

  const refused = await update({ input_mtok: 3, output_mtok: 9 })
  assert.equal(refused.code, 1, 'so few prices are no whole list')
  assert.match(refused.said, /there would be 1 prices instead of \d{4}/)
  assert.equal(gpt().usd, 12.5)
  assert.equal((await update({ input_mtok: 3, output_mtok: 9 }, '--force', '--dry-run')).code, 0)
  assert.equal(gpt().usd, 12.5)
  const written = await update({ input_mtok: 3, output_mtok: 9 }, '--force')
  assert.equal(written.code, 0)
  assert.match(written.said, /~ openai\/gpt-4o {2}2\.5\/10, cached 1\.25 → 3\/9/)
  assert.match(written.said, /uses it after its next start/)
  assert.deepEqual(gpt(), { usd: 12, isListed: true })
  assert.equal(readConfig({ DATA_DIR }).ai.pricesAsOf, TODAY)

  const jump = await update({ input_mtok: 3, output_mtok: 90 })
  assert.equal(jump.code, 1)
  assert.match(jump.said, /✖ openai\/gpt-4o would go from 3\/9 to 3\/90/)
  assert.equal(gpt().usd, 12)
  assert.equal(
    (await update({ input_mtok: 2, output_mtok: 8 })).code,
    0,
    'a list as long as the last is taken over',
  )
  assert.equal(gpt().usd, 10)
  await assert.rejects(
    update({ input_mtok: -2, output_mtok: 8 }, '--force'),
    /openai\/gpt-4o input_mtok is not a price/,
  )
  await assert.rejects(
    update({ input_mtok: 2, output_mtok: 8 }, '--vendors', 'openai,nobody'),
    /no vendor called nobody/,
  )
  assert.equal(gpt().usd, 10)
  const older = await update({ input_mtok: 2, output_mtok: 8 }, '--date', '2026-01-01')
  assert.match(
    older.said,
    /To use it, set PRICES=.*the list of 2026-11-\d\d stays in use \(as shipped\)/s,
  )
})

test('rejects jumps of cache and long-prompt prices too, but not a new, cheaper cache price', async (t) => {
  const { update } = updater(folderOf(t))
  const rate = { input_mtok: 2, output_mtok: 8, cache_read_mtok: 0.2, cache_write_mtok: 2.5 }
  const long = (input: number, cached = 0.4) => ({
    ...rate,
    input_mtok: { base: 2, tiers: [{ start: 128_000, price: input }] },
    cache_read_mtok: { base: 0.2, tiers: [{ start: 128_000, price: cached }] },
  })
  const first = { plain: { input_mtok: 2, output_mtok: 8 }, whole: rate, long: long(4) }
  assert.equal((await update({ openai: first }, '--force')).code, 0)
  const jumps: [name: string, price: object][] = [
    ['whole', { ...rate, cache_read_mtok: 400 }],
    ['whole', { ...rate, cache_read_mtok: 0.01 }],
    ['whole', { ...rate, cache_write_mtok: 25 }],
    ['whole', { input_mtok: 2, output_mtok: 8, cache_write_mtok: 2.5 }],
    ['plain', { ...rate, cache_read_mtok: 400 }],
    ['plain', { ...rate, cache_write_mtok: 9 }],
    ['long', long(40)],
    ['long', long(4, 40)],
  ]
  for (const [name, price] of jumps) {
    const { code, said } = await update({ openai: { ...first, [name]: price } })
    assert.equal(code, 1, JSON.stringify(price))
    assert.ok(said.includes(`✖ openai/${name} would go from `), said)
  }
  assert.equal((await update({ openai: { ...first, plain: rate } })).code, 0)
})

test('updates only the given vendors’ prices, and rejects a future date', async (t) => {
  const DATA_DIR = folderOf(t)
  const { update, command } = updater(DATA_DIR)
  const price = { input_mtok: 2, output_mtok: 8 }
  assert.equal(
    (await update({ openai: { a: price, b: price }, groq: { c: price } }, '--force')).code,
    0,
  )
  const cost = (vendor: string, name: string) =>
    findKnownModel(readConfig({ DATA_DIR }).ai, vendor, name)?.price?.input
  const dear = { input_mtok: 3, output_mtok: 8 }
  const some = await update(
    { openai: { a: dear, b: dear }, groq: { c: dear } },
    '--vendors',
    'openai',
    '--date',
    '2026-11-05',
  )
  assert.equal(some.code, 0, some.said)
  assert.match(
    (await command()).said,
    new RegExp(`genai-prices of ${TODAY}: 3 models of 2 vendors`),
  )
  assert.deepEqual(
    [
      cost('openai', 'a'),
      readPriceList(priceFiles({ DATA_DIR })).getPrices('groq').find('c')?.price?.input,
    ],
    [3, 2],
  )
  const gone = await update({ openai: {}, groq: { c: dear } }, '--vendors', 'groq')
  assert.equal(gone.code, 0)
  const few = await update(
    { openai: { a: dear, b: dear }, xai: { d: dear } },
    '--vendors',
    'openai,xai',
  )
  assert.match(few.said, /\+ xai\/d/)
  const half = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`m${index}`, price]))
  assert.equal((await update({ groq: half }, '--vendors', 'groq')).code, 0)
  assert.match(
    (await update({ groq: { m0: price } }, '--vendors', 'groq')).said,
    /there would be 1 prices instead of 5/,
  )

  const inDays = (days: number) =>
    new Date(Date.parse(TODAY) + days * DAY_MS).toISOString().slice(0, 10)
  const whole = { openai: { a: dear, b: dear }, groq: half, xai: { d: dear } }
  for (const [days, code] of [
    [2, 1],
    [20_000, 1],
    [1, 0],
  ] as const) {
    const { code: is, said } = await update(whole, '--date', inDays(days))
    assert.equal(is, code, said)
    assert.equal(said.includes('is in the future'), code === 1)
  }
})

test('the command repairs a list with which nothing else starts', async (t) => {
  const DATA_DIR = folderOf(t)
  const PRICES = join(DATA_DIR, 'named', 'prices.json')
  const price = { input_mtok: 2, output_mtok: 8 }
  assert.throws(() => readConfig({ DATA_DIR, PRICES }), /does not exist/)
  const { update, command } = updater(DATA_DIR, { PRICES })
  const told = await command()
  assert.equal(told.code, 1)
  assert.match(told.said, /✖ .*prices\.json does not exist\. The service does not start with it/)
  const made = await update({ openai: { 'gpt-4o': price } }, '--force', '--date', '2026-01-01')
  assert.match(made.said, /uses it after its next start/, 'PRICES counts, however old it is')
  assert.equal(
    computeCost(readConfig({ DATA_DIR, PRICES }).ai, 'openai', ['gpt-4o'], MILLION).usd,
    10,
  )

  writeFileSync(PRICES, '{"as_of": ')
  assert.throws(() => readConfig({ DATA_DIR, PRICES }), ConfigError)
  const other = join(DATA_DIR, 'other.json')
  assert.match(
    (await update({ openai: { 'gpt-4o': price } }, '--force', '--to', other)).said,
    /PRICES=.*other\.json\.\n.*is not valid JSON/,
  )
  assert.equal((await update({ openai: { 'gpt-4o': price } }, '--force')).code, 0)
  assert.equal(readConfig({ DATA_DIR, PRICES }).ai.pricesAsOf, TODAY)
})
