// The price list: what is shipped, what an operator takes over, and which of them counts.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { costOf } from '#ai/cost.ts'
import { run } from '#src/cli/prices.ts'
import { ConfigError, readConfig } from '#src/config.ts'
import { BUILT_IN } from './built-in.ts'
import { knownModel } from './catalogue.ts'
import { checked, readPriceList } from './price-list.ts'
import { priceListFrom } from './price-sources.ts'

const SHIPPED = join(import.meta.dirname, 'prices.json')
const MILLION = { prompt: 1_000_000, completion: 1_000_000, cached: 0, cacheWrites: 0 }

function folderOf(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-prices-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the list that is shipped is whole, and says of the built-in models what they say', () => {
  const file = checked(JSON.parse(readFileSync(SHIPPED, 'utf8')), SHIPPED)
  assert.ok(Object.values(file.vendors).flat().length > 1_000)
  const list = readPriceList(null, '/nowhere')
  assert.equal(list.asOf, file.as_of)
  let both = 0
  for (const { name, models } of BUILT_IN) {
    for (const { id, price } of models) {
      const listed = list.of(name).find(id)?.price
      if (listed == null) continue
      both++
      assert.deepEqual(listed, price, `${name}/${id}`)
    }
  }
  assert.ok(both > 10, `${both}`)
})

test('a model of the list has its price and limits though no catalogue lists it; nobody’s costs its vendor’s dearest', () => {
  const { ai } = readConfig({})
  const cost = (vendor: string, name: string) => costOf(ai, vendor, [name], MILLION)
  assert.deepEqual(cost('openai', 'gpt-4o'), { usd: 12.5, isListed: true })
  assert.deepEqual(cost('openai', 'gpt-4o-2024-11-20'), { usd: 12.5, isListed: true })
  assert.deepEqual(cost('anthropic', 'claude-3-5-haiku-20241022'), { usd: 4.8, isListed: true })
  assert.equal(knownModel(ai, 'openai', 'gpt-4o')?.contextTokens, 128_000)
  const nobodys = cost('openai', 'gpt-nobody')
  assert.equal(nobodys.isListed, false)
  assert.ok(
    nobodys.usd >= 50 && nobodys.usd < 200,
    `${nobodys.usd}: by the models that are offered, not by any there ever was`,
  )
  for (const name of ['constructor', '__proto__', '']) assert.equal(cost('gemini', name).isListed, false)
})

test('the MODELS file goes before the list, the list fills what it leaves out, and another vendor’s part may be named', (t) => {
  const path = join(folderOf(t), 'models.json')
  const entry = { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key_env: 'SOME_KEY' }
  const vendors: object[] = [
    { name: 'groq', ...entry, models: [{ id: 'llama-3.1-8b-instant' }, { id: 'qwen/qwen3-32b', price: { input: 7 } }] },
    { name: 'mine', ...entry, price_list: 'groq', models: [{ id: 'llama-3.3-70b-versatile' }] },
    { name: 'openrouter', ...entry, models: [{ id: 'my-own' }] },
    { name: 'home', ...entry, api_key_env: null, models: [{ id: 'llama', price: { input: 0, output: 0 } }] },
  ]
  writeFileSync(path, JSON.stringify({ vendors }))
  const { ai } = readConfig({ MODELS: path })
  const cost = (vendor: string, name: string) => costOf(ai, vendor, [name], MILLION)
  assert.equal(cost('groq', 'llama-3.1-8b-instant').usd.toFixed(2), '0.13')
  assert.equal(cost('groq', 'qwen/qwen3-32b').usd, 7)
  assert.equal(cost('mine', 'llama-3.3-70b-versatile').usd.toFixed(2), '1.38')
  assert.equal(cost('mine', 'llama-3.1-8b-instant').isListed, true)
  assert.ok(cost('openrouter', 'my-own').usd > 1, 'what has no price counts at the dearest of its vendor’s list')
  assert.deepEqual(cost('home', 'gpt-4o'), { usd: 0, isListed: false }, 'a machine of one’s own sells nobody’s models')
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

test('the newer list counts: one that was taken over, the shipped one after it, or the one that PRICES names', (t) => {
  const DATA_DIR = folderOf(t)
  const luna = (env: Record<string, string> = {}) => {
    const { ai } = readConfig({ DATA_DIR, ...env })
    return [costOf(ai, 'openai', ['gpt-6-luna'], MILLION).usd, ai.pricesAsOf]
  }
  const path = join(DATA_DIR, 'prices.json')
  assert.deepEqual(luna()[1], '2026-11-20')
  writeFileSync(path, JSON.stringify(own('2027-02-01', 9)))
  assert.deepEqual(luna(), [10, '2027-02-01'])
  assert.equal(costOf(readConfig({ DATA_DIR }).ai, 'openai', ['luna'], MILLION).usd, 10)
  writeFileSync(path, JSON.stringify(own('2025-02-01', 9)))
  assert.ok(Number(luna()[0]) < 2)
  writeFileSync(join(DATA_DIR, 'named.json'), JSON.stringify(own('2025-02-01', 9)))
  assert.equal(costOf(readConfig({ PRICES: join(DATA_DIR, 'named.json') }).ai, 'openai', ['luna'], MILLION).usd, 10)
  for (const input of [-1, 'free', null, Number.MAX_VALUE * 10]) {
    writeFileSync(path, JSON.stringify(own('2027-02-01', input)))
    assert.throws(() => readConfig({ DATA_DIR }), ConfigError, `${input}`)
  }
  writeFileSync(path, '{"as_of": ')
  assert.throws(() => readConfig({ DATA_DIR }), /^Error: PRICES: .*prices\.json is no JSON/)
  assert.throws(() => readConfig({ PRICES: '/nowhere.json' }), /PRICES: \/nowhere\.json is not there/)
})

const GENAI = [
  {
    id: 'x-ai',
    models: [
      {
        id: 'grok-9',
        match: {
          or: [{ equals: 'grok-nine' }, { starts_with: 'grok-9' }, { starts_with: 'grok-9-' }, { contains: 'x' }],
        },
        context_window: 1_000,
        prices: [
          { prices: { input_mtok: 9, output_mtok: 9 } },
          { constraint: { start_date: '2026-01-01' }, prices: { input_mtok: 1, output_mtok: 4, cache_read_mtok: 0.1 } },
          { constraint: { start_time: '01:00', end_time: '04:00' }, prices: { input_mtok: 2, output_mtok: 8 } },
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

test('genai-prices is read: the price in force at its dearest, steps, other names; what tells no price of tokens is left out', () => {
  const { vendors } = priceListFrom(GENAI, '2026-11-04', '2026-11-22')
  assert.deepEqual(vendors, {
    xai: [
      { id: 'grok-9', also: ['grok-nine'], context_tokens: 1_000, price: { input: 2, output: 8 } },
      {
        id: 'grok-long',
        price: { input: 1, output: 5, cached: 0.1, long: { above: 128_000, input: 3, output: 5, cached: 0.2 } },
      },
      { id: 'grok-gift:free', price: { input: 0, output: 0 } },
      { id: 'grok-embed', kind: 'embedding', price: { input: 0.1 } },
    ],
  })
})

test('models.dev is read, with its limits; what is neither is refused, and so is a price that is none', () => {
  const cost = { input: 2, output: 8, cache_read: 0.2, cache_write: 2.5, context_over_200k: { input: 4, output: 12 } }
  const models = { 'm-1': { id: 'm-1', cost, limit: { context: 400_000, output: 32_000 } }, 'm-2': { id: 'm-2' } }
  const read = (value: unknown) => priceListFrom(value, '2026-11-04', '2026-11-22')
  assert.deepEqual(read({ google: { id: 'google', models } }).vendors, {
    gemini: [
      {
        id: 'm-1',
        price: { input: 2, output: 8, cached: 0.2, cache_write: 2.5, long: { above: 200_000, input: 4, output: 12 } },
        context_tokens: 400_000,
        output_tokens_max: 32_000,
      },
    ],
  })
  for (const value of [null, 7, {}, [], [7], { a: 1 }, own('2026-01-01', 1), [{ id: 'a', models: [] }]]) {
    assert.throws(() => read(value), /no list that is known|no price in it/, JSON.stringify(value))
  }
  for (const input of [-0.1, 'dear', Number.NaN]) {
    assert.throws(
      () => read({ a: { id: 'a', models: { m: { id: 'm', cost: { input, output: 1 } } } } }),
      /a\/m is no price/,
    )
    assert.throws(
      () => read([{ id: 'a', models: [{ id: 'm', prices: { input_mtok: input, output_mtok: 1 } }] }]),
      /a\/m input_mtok is no price/,
    )
  }
})

test('a list is taken over by the command: changes are shown, jumps refused, and the next start uses it', async (t) => {
  const DATA_DIR = folderOf(t)
  const download = join(DATA_DIR, 'data.json')
  const said: string[] = []
  const update = async (prices: object, ...more: string[]) => {
    writeFileSync(download, JSON.stringify([{ id: 'openai', models: [{ id: 'gpt-4o', prices }] }]))
    said.length = 0
    const config = readConfig({ DATA_DIR })
    const print = (line = '') => said.push(line)
    const platform = () => Promise.reject(new Error('no database is needed'))
    return run(['update', download, '--date', '2027-01-02', ...more], { config, print, platform } as never)
  }
  const gpt = () => costOf(readConfig({ DATA_DIR }).ai, 'openai', ['gpt-4o'], MILLION)

  assert.equal(await update({ input_mtok: 3, output_mtok: 9 }), 1, 'so few prices are no whole list')
  assert.match(said.join('\n'), /there would be 1 prices instead of \d{4}/)
  assert.equal(gpt().usd, 12.5)
  assert.equal(await update({ input_mtok: 3, output_mtok: 9 }, '--force', '--dry-run'), 0)
  assert.equal(gpt().usd, 12.5)
  assert.equal(await update({ input_mtok: 3, output_mtok: 9 }, '--force'), 0)
  assert.match(said.join('\n'), /~ openai\/gpt-4o {2}2\.5\/10, cached 1\.25 → 3\/9/)
  assert.deepEqual(gpt(), { usd: 12, isListed: true })
  assert.equal(readConfig({ DATA_DIR }).ai.pricesAsOf, '2027-01-02')

  assert.equal(await update({ input_mtok: 3, output_mtok: 90 }), 1)
  assert.match(said.join('\n'), /✖ openai\/gpt-4o would go from 3\/9 to 3\/90/)
  assert.equal(gpt().usd, 12)
  assert.equal(await update({ input_mtok: 2, output_mtok: 8 }), 0, 'a list as long as the last is taken over')
  assert.equal(gpt().usd, 10)
  await assert.rejects(update({ input_mtok: -2, output_mtok: 8 }, '--force'), /openai\/gpt-4o input_mtok is no price/)
  await assert.rejects(
    update({ input_mtok: 2, output_mtok: 8 }, '--vendors', 'openai,nobody'),
    /no vendor called nobody/,
  )
  assert.equal(gpt().usd, 10)
})
