// Kill switches: every API refuses what is off with a specific code, at once here and soon
// elsewhere, until it is on again.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, beforeEach, suite, test } from 'node:test'
import { run as switchCommand } from '#cli/switch.ts'
import {
  type Client,
  PASSWORD,
  type Reply,
  type RequestOptions,
  type TestApp,
  testApp,
} from '#testing/app.ts'
import { type MockVendor, mockVendor, type Step, says } from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'
import { createLiveSwitches } from './live.ts'

suite('kill switches', () => {
  const t = suiteContext()
  const HI = [{ role: 'user', content: 'Hi' }]
  const LUNA = 'gpt-6-luna'
  const HAIKU = 'claude-haiku-5-5'
  const REASON = 'leaked on the web'
  let app: TestApp
  let openai: MockVendor
  let anthropic: MockVendor
  let root: Client

  const answers =
    (text: string): Step =>
    (call, reply) => {
      if (!/embeddings|count_tokens/.test(call.path)) return says(text)(call, reply)
      reply.setHeader('content-type', 'application/json')
      if (call.path.endsWith('count_tokens')) return void reply.end('{"input_tokens": 3}')
      const data = [call.body.input]
        .flat()
        .map((_: unknown, index: number) => ({ index, embedding: [1, 2, 3] }))
      reply.end(JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 7 } }))
    }

  before(async () => {
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-switches-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const MODELS = join(folder, 'models.json')
    writeFileSync(
      MODELS,
      JSON.stringify({ aliases: { either: { models: [`openai/${LUNA}`, `anthropic/${HAIKU}`] } } }),
    )
    app = await testApp(t, {
      env: { ...openai.env.openai, ...anthropic.env.anthropic, MODELS, EMBEDDER: 'local' },
    })
    root = await app.as('root', { superuser: true })
  })
  beforeEach(() => {
    openai.play(answers('from OpenAI'))
    anthropic.play(answers('from Anthropic'))
  })

  const off = (kind: string, subject: string, reason = REASON) =>
    root.post('/api/admin/switches', { kind, subject, reason })
  const on = (kind: string, subject: string) =>
    root.request(
      'DELETE',
      `/api/admin/switches?kind=${kind}&subject=${encodeURIComponent(subject)}`,
    )
  async function whileOff(kind: string, subject: string, work: () => Promise<void>) {
    const { status, text } = await off(kind, subject)
    assert.equal(status, 200, text)
    try {
      await work()
    } finally {
      assert.equal((await on(kind, subject)).status, 200)
    }
  }
  const keyOf = async (who: Client): Promise<{ id: string; bearer: RequestOptions }> => {
    const { body } = await who.post('/api/api-keys', { name: 'key' })
    return { id: body.id, bearer: { headers: { authorization: `Bearer ${body.key}` } } }
  }
  const codeOf = ({ body }: Reply): string => body.code ?? body.error?.code ?? body.error?.type

  /** Every door that takes a key: what asks a model, documents, and the account's own figures. */
  const doors = (options: RequestOptions): [string, Promise<Reply>][] => [
    ['chat', app.post('/api/ai/chat', { messages: HI }, options)],
    ['stream', app.post('/api/ai/chat', { messages: HI, stream: true }, options)],
    ['completions', app.post('/api/ai/completions', { prompt: 'Hi' }, options)],
    ['models', app.get('/api/ai/models', options)],
    ['/v1/models', app.get('/v1/models', options)],
    ['/v1/chat', app.post('/v1/chat/completions', { model: LUNA, messages: HI }, options)],
    ['/v1/responses', app.post('/v1/responses', { model: LUNA, input: 'Hi' }, options)],
    [
      '/v1/messages',
      app.post('/v1/messages', { model: HAIKU, messages: HI, max_tokens: 9 }, options),
    ],
    ['count', app.post('/v1/messages/count_tokens', { model: HAIKU, messages: HI }, options)],
    [
      '/v1/embeddings',
      app.post('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }, options),
    ],
    ['search', app.post('/api/rag/search', { query: 'Hi' }, options)],
    ['query', app.post('/api/rag/query', { question: 'Hi' }, options)],
    ['ingest', app.post('/api/rag/ingest/text', { content: 'Hi' }, options)],
    ['/mcp', app.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, options)],
    ['usage', app.get('/api/usage', options)],
    ['calls', app.get('/api/usage/calls', options)],
    ['allowance', app.get('/api/usage/allowance', options)],
    ['self', app.get('/api/api-keys/self', options)],
  ]

  test('a switched-off key is rejected by every API with the reason; the owner and their other keys are not', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const [leaked, good] = [await keyOf(ada), await keyOf(ada)]
    for (const [name, reply] of doors(leaked.bearer))
      assert.equal((await reply).status, 200, `${name} while it is on`)
    const asked = openai.calls.length + anthropic.calls.length
    await whileOff('key', leaked.id, async () => {
      for (const [name, reply] of doors(leaked.bearer)) {
        const { status, text } = await reply
        assert.equal(status, 403, name)
        assert.ok(text.includes(`This API key is switched off: ${REASON}`), `${name}: ${text}`)
      }
      assert.equal(openai.calls.length + anthropic.calls.length, asked, 'no vendor was asked')
      assert.equal(
        codeOf(await app.post('/api/ai/chat', { messages: HI }, leaked.bearer)),
        'key_switched_off',
      )
      assert.equal((await app.post('/api/ai/chat', { messages: HI }, good.bearer)).status, 200)
      assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)
    })
    assert.equal((await app.post('/api/ai/chat', { messages: HI }, leaked.bearer)).status, 200)
  })

  test('a switched-off user cannot make calls by session or key, and can still use their account', async () => {
    const eve = await app.as('eve', { tier: 'pro' })
    const key = await keyOf(eve)
    await whileOff('user', eve.userId, async () => {
      for (const [name, reply] of doors(key.bearer)) assert.equal((await reply).status, 403, name)
      for (const [path, body] of [
        ['/api/ai/chat', { messages: HI }],
        ['/v1/chat/completions', { model: LUNA, messages: HI }],
        ['/api/rag/search', { query: 'Hi' }],
      ] as const) {
        assert.equal(codeOf(await eve.post(path, body)), 'user_switched_off', path)
      }
      for (const path of [
        '/api/users/me',
        '/api/usage',
        '/api/api-keys',
        '/api/billing/subscription',
      ]) {
        assert.equal((await eve.get(path)).status, 200, path)
      }
      assert.equal(
        (await app.as('ada', { tier: 'pro' }).post('/api/ai/chat', { messages: HI })).status,
        200,
      )
    })
    assert.equal((await eve.post('/api/ai/chat', { messages: HI })).status, 200)
  })

  test('a model that is off is unreachable by all its names, by an alias and from the cache, and is not listed', async () => {
    const ada = await app.as('ada', { tier: 'enterprise' })
    const ask = (model: string, options: RequestOptions = {}) =>
      ada.post('/v1/chat/completions', { model, messages: HI }, options)
    const cached = { headers: { 'x-latchkey-cache': '3600' } }
    assert.equal((await ask(LUNA, cached)).status, 200)
    assert.equal((await ask(LUNA, cached)).headers.get('x-latchkey-cache'), 'hit')
    for (const words of [LUNA, `openai/${LUNA}`, 'GPT-6-LUNA', 'gpt-6-l*']) {
      await whileOff('model', words, async () => {
        for (const name of [
          LUNA,
          `openai/${LUNA}`,
          `${LUNA}-2026-09-22`,
          'GPT-6-Luna',
          `openai/${LUNA}-latest`,
        ]) {
          const refused = await ask(name)
          assert.deepEqual(
            [refused.status, codeOf(refused)],
            [503, 'model_switched_off'],
            `${words}: ${name}`,
          )
          assert.equal(refused.headers.get('x-should-retry'), 'false')
          assert.ok(refused.text.includes(REASON))
        }
        assert.equal((await ask(LUNA, cached)).status, 503)
        assert.match((await ask('either')).text, /from Anthropic/)
        const { body } = await ada.get('/api/ai/models')
        assert.equal(
          body.models.some(({ id }: { id: string }) => id === LUNA),
          false,
        )
        assert.equal((await ask('gpt-4o')).status, 200, 'others of the vendor answer')
        assert.equal(
          (await ada.post('/api/ai/chat', { messages: HI })).status,
          200,
          'another answers what names no model',
        )
      })
      assert.equal((await ask(LUNA)).status, 200)
    }
  })

  test('a vendor that is off is not asked for words or for vectors; others stand in where an alias names them', async () => {
    const ada = await app.as('ada', { tier: 'enterprise' })
    await whileOff('vendor', 'openai', async () => {
      openai.play(answers('from OpenAI'))
      const doors: [string, object][] = [
        ['/v1/chat/completions', { model: LUNA, messages: HI }],
        ['/v1/chat/completions', { model: 'openai/some-model', messages: HI, stream: true }],
        ['/v1/responses', { model: LUNA, input: 'Hi' }],
        ['/v1/messages', { model: LUNA, messages: HI, max_tokens: 9 }],
        ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
        ['/api/ai/chat', { messages: HI, provider: 'openai' }],
      ]
      for (const [path, body] of doors) {
        const { status, text } = await ada.post(path, body)
        assert.equal(status, 503, path)
        assert.ok(text.includes(`Vendor 'openai' is switched off: ${REASON}`), text)
      }
      assert.match(
        (await ada.post('/v1/chat/completions', { model: 'either', messages: HI })).text,
        /from Anthropic/,
      )
      const unnamed = await ada.post('/api/ai/chat', { messages: HI })
      assert.deepEqual(
        [unnamed.status, codeOf(unnamed)],
        [503, 'vendor_switched_off'],
        'a dearer vendor is nobody’s choice',
      )
      assert.deepEqual(openai.calls, [])
      const { providers } = (await ada.get('/api/ai/models')).body
      assert.equal(
        providers.some(({ provider }: { provider: string }) => provider === 'openai'),
        false,
      )
    })
    await whileOff('vendor', 'anthropic', async () => {
      await off('vendor', 'openai')
      const none = await ada.post('/v1/chat/completions', { model: 'either', messages: HI })
      assert.deepEqual([none.status, codeOf(none)], [503, 'vendor_switched_off'])
      await on('vendor', 'openai')
    })
  })

  const TERRA = 'gpt-6.1-terra'
  const effect = async (kind: string, subject: string) => {
    const { status, body } = await root.get(
      `/api/admin/switches/effect?kind=${kind}&subject=${encodeURIComponent(subject)}`,
    )
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  test('the default model’s stand-in is of its vendor and never dearer; without one, calls are refused', async () => {
    const ada = await app.as('ada', { tier: 'enterprise' })
    const chat = () => ada.post('/api/ai/chat', { messages: HI })
    openai.play((call, reply) => {
      const choices = [
        { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
      ]
      reply.setHeader('content-type', 'application/json')
      // As vendors name it: with its date.
      const model = `${call.body.model}-2026-09-22`
      reply.end(
        JSON.stringify({ model, choices, usage: { prompt_tokens: 1_000, completion_tokens: 100 } }),
      )
    })
    assert.equal((await chat()).status, 200)
    assert.equal(openai.calls.at(-1)?.body.model, TERRA)

    const before = await effect('model', TERRA)
    const expected = { before: `openai/${TERRA}`, after: 'openai/gpt-4.1-mini' }
    assert.deepEqual(
      { ...before.default_model, price_ratio: null },
      { ...expected, price_ratio: null },
    )
    assert.ok(before.default_model.price_ratio < 1)
    const [affected, ...others] = before.models
    assert.deepEqual([affected.model, affected.stand_in, others], [`openai/${TERRA}`, null, []])
    assert.ok(affected.calls_per_day > 0 && affected.cost_usd_per_day > 0)
    assert.equal((await chat()).status, 200, 'a preview switches nothing')
    assert.equal(openai.calls.at(-1)?.body.model, TERRA)

    await whileOff('model', TERRA, async () => {
      const { status, body } = await chat()
      assert.deepEqual(
        [status, openai.calls.at(-1)?.body.model],
        [200, 'gpt-4.1-mini'],
        JSON.stringify(body),
      )
      assert.equal((await ada.get('/api/ai/models')).body.default_model, 'gpt-4.1-mini')
      const now = await effect('model', 'gpt-4.1*')
      assert.deepEqual(now.default_model.after, `openai/${LUNA}`)
      await whileOff('model', 'gpt-4.1*', () =>
        whileOff('model', LUNA, async () => {
          openai.play(answers('from OpenAI'))
          const none = await chat()
          assert.deepEqual([none.status, codeOf(none)], [503, 'model_switched_off'])
          assert.deepEqual([openai.calls, anthropic.calls], [[], []], 'nothing dearer is asked')
        }),
      )
    })
  })

  test('a preview is for superusers, of models and vendors that there are, and counts aliases', async () => {
    const ada = await app.as('ada', { tier: 'enterprise' })
    const path = '/api/admin/switches/effect'
    assert.equal(codeOf(await ada.get(`${path}?kind=model&subject=${LUNA}`)), 'not_superuser')
    assert.equal(
      codeOf(await root.get(`${path}?kind=vendor&subject=nobody`)),
      'switch_subject_unknown',
    )
    assert.equal((await root.get(`${path}?kind=user&subject=${ada.userId}`)).status, 422)
    const { aliases } = await effect('model', LUNA)
    assert.deepEqual(aliases, [
      { alias: 'either', before: `openai/${LUNA}`, after: `anthropic/${HAIKU}` },
    ])
    assert.deepEqual((await effect('model', 'unheard-of')).models, [])
  })

  test('another process follows by itself, and a command is followed at once', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const { platform } = app
    const said: string[] = []
    const command = (...args: string[]) =>
      switchCommand(args, {
        platform: async () => platform,
        print: (line = '') => said.push(line),
      } as never)
    const status = async () => (await ada.post('/api/ai/chat', { messages: HI })).status
    assert.equal(await command('off', 'user', 'ADA@example.com', '--reason', 'a loop'), 0)
    while ((await status()) !== 403);
    assert.equal(await command(), 0)
    assert.ok(said.some((line) => line.startsWith(`user ${ada.userId}`) && line.endsWith('a loop')))
    assert.equal(await command('on', 'user', ada.userId), 0)
    while ((await status()) !== 200);
    for (const wrong of [
      ['off'],
      ['off', 'house', 'x'],
      ['on', 'user'],
      ['off', 'model', 'a b'],
      ['off', 'model', 'm', 'n'],
    ]) {
      assert.equal(await command(...wrong), 2, wrong.join())
    }
    await assert.rejects(command('off', 'vendor', 'nobody'), /There is no vendor of this name/)

    // As another node writes it: no news of it comes over the bus.
    const row = {
      kind: 'user' as const,
      subject: ada.userId,
      user_id: ada.userId,
      reason: REASON,
      set_at: app.clock.now(),
    }
    await platform.db.insertInto('switches').values(row).execute()
    const other = createLiveSwitches(platform)
    t.after(other.stop)
    await other.start()
    assert.throws(
      () => other.requireCaller({ userId: ada.userId, keyId: null }, { needs: 'ai' }),
      /a user|switched off/,
    )
    while ((await status()) !== 403) await new Promise((resolve) => setTimeout(resolve, 50))
    await platform.db.deleteFrom('switches').execute()
    while ((await status()) !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  })

  test('superusers alone set them, of what there is, and each change is in the audit log', async () => {
    const ada = await app.as('ada', { tier: 'enterprise' })
    for (const [method, path, body] of [
      ['GET', '/api/admin/switches'],
      ['POST', '/api/admin/switches', { kind: 'vendor', subject: 'openai', reason: 'mine' }],
      ['DELETE', '/api/admin/switches?kind=vendor&subject=openai'],
    ] as const) {
      assert.equal(codeOf(await ada.request(method, path, body && { body })), 'not_superuser', path)
    }
    for (const [kind, subject] of [
      ['user', 'nobody'],
      ['key', ada.userId],
      ['vendor', 'nobody'],
    ] as const) {
      assert.equal(codeOf(await off(kind, subject)), 'switch_subject_unknown', kind)
    }
    for (const reason of ['', 'a\nb', 'x'.repeat(201)])
      assert.equal((await off('model', 'm', reason)).status, 422)
    assert.equal((await off('model', 'two words')).status, 422)
    assert.equal(codeOf(await on('model', 'm')), 'switch_not_found')

    await whileOff('user', ada.userId, async () => {
      assert.equal((await off('user', ada.userId, 'another reason')).body.reason, 'another reason')
      const { switches } = (await root.get('/api/admin/switches')).body
      const [{ set_at, ...only }, ...others] = switches
      assert.ok(Date.parse(set_at) <= app.clock.ms())
      assert.deepEqual(
        [only, ...others],
        [{ kind: 'user', subject: ada.userId, email: 'ada@example.com', reason: 'another reason' }],
      )
    })
    const log = await app.platform.db
      .selectFrom('audit_log')
      .select(['action', 'details'])
      .where('action', 'like', 'switch.%')
      .orderBy('at', 'desc')
      .orderBy('position', 'desc')
      .limit(3)
      .execute()
    assert.deepEqual(
      log.map(({ action, details }) => [action, details]),
      [
        ['switch.on', null],
        ['switch.off', '{"reason":"another reason"}'],
        ['switch.off', `{"reason":"${REASON}"}`],
      ],
    )
  })

  test('deleting a user deletes their switches', async () => {
    const dan = await app.as('dan', { tier: 'pro' })
    const key = await keyOf(dan)
    await off('user', dan.userId)
    await off('key', key.id)
    assert.equal((await dan.delete('/api/users/me', { password: PASSWORD })).status, 200)
    assert.deepEqual((await root.get('/api/admin/switches')).body.switches, [])
  })

  // The last one: its service replaces the suite's where an embedded database has one connection.
  test('LLM_FALLBACKS replace a switched-off default, and the preview shows them with their price', async (t) => {
    const env = {
      ...openai.env.openai,
      ...anthropic.env.anthropic,
      LLM_FALLBACKS: 'anthropic/claude-opus-5-5',
    }
    const other = await testApp(t, { env })
    const chief = await other.as('root', { superuser: true })
    const ada = await other.as('ada', { tier: 'enterprise' })
    const { body } = await chief.get('/api/admin/switches/effect?kind=vendor&subject=openai')
    assert.deepEqual(
      [body.default_model.before, body.default_model.after],
      [`openai/${TERRA}`, 'anthropic/claude-opus-5-5'],
    )
    // $4 and $20 a million in place of $1 and $5.
    assert.equal(Math.round(body.default_model.price_ratio * 100), 400)
    assert.ok(body.models.some(({ model }: { model: string }) => model === `openai/${LUNA}`))
    for (const { stand_in } of body.models) assert.equal(stand_in, 'anthropic/claude-opus-5-5')
    const reason = { reason: REASON }
    assert.equal(
      (await chief.post('/api/admin/switches', { kind: 'model', subject: TERRA, ...reason }))
        .status,
      200,
    )
    anthropic.play(answers('from Anthropic'))
    assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)
    assert.equal(anthropic.calls.at(-1)?.body.model, 'claude-opus-5-5')
  })
})

test('a database that does not answer gets only one query at a time', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let reads = 0
  const silent = {
    selectFrom: () => {
      reads++
      return { select: () => ({ execute: () => new Promise(() => {}) }) }
    },
  }
  const quiet = { on: () => {}, onGap: () => {} }
  const live = createLiveSwitches({ db: silent, bus: quiet, log: quiet } as unknown as Parameters<
    typeof createLiveSwitches
  >[0])
  void live.start()
  t.mock.timers.tick(60_000)
  live.stop()
  assert.equal(reads, 2, 'at the start, and by the timer')
})
