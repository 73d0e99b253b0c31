// Replies from the cache, by X-Latchkey-Cache: the same reply again at no cost, only for its own
// user, and never half of one.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { type Client, PASSWORD, type RequestOptions, type TestApp, testApp } from '#testing/app.ts'
import {
  cuts,
  type MockVendor,
  mockVendor,
  refuses,
  type Step,
  says,
} from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'
import { createReplyCache } from './reply-cache.ts'

// The service belongs to this suite: hooks outside a suite would run for every file in the process.
suite('replies from the cache', () => {
  const HI = [{ role: 'user', content: 'Hi' }]
  const MODEL = 'gpt-6-luna'
  const CLAUDE = 'claude-haiku-5-5'
  const kept = (
    seconds: number | string = 3_600,
    headers: Record<string, string> = {},
  ): RequestOptions => ({ headers: { 'x-latchkey-cache': String(seconds), ...headers } })

  const t = suiteContext()
  let vendor: MockVendor
  let app: TestApp
  let ada: Client
  before(async () => {
    vendor = await mockVendor(t)
    app = await testApp(t, {
      env: { ...vendor.env.openai, ...vendor.env.anthropic, MODELS: modelsFile() },
    })
    ada = await app.as('ada', { tier: 'enterprise' })
  })

  /** With an alias of two vendors' models. */
  function modelsFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'models.json')
    writeFileSync(
      path,
      JSON.stringify({
        aliases: { either: { models: [`openai/${MODEL}`, `anthropic/${CLAUDE}`] } },
      }),
    )
    return path
  }

  /** Streams the words, or embeds. */
  const answers =
    (text: string): Step =>
    (call, reply) => {
      if (!call.path.endsWith('/embeddings')) return says(text)(call, reply)
      reply.setHeader('content-type', 'application/json')
      const data = [{ index: 0, embedding: [0.25, 0.5] }]
      reply.end(
        JSON.stringify({
          data,
          model: call.body.model,
          usage: { prompt_tokens: 7, total_tokens: 7 },
        }),
      )
    }

  const told = (headers: Headers) => [headers.get('x-latchkey-cache'), headers.get('age')]
  const lastRecord = () =>
    app.platform.db
      .selectFrom('usage_records')
      .selectAll()
      .where('user_id', '=', ada.userId)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
  const records = async () =>
    (
      await app.platform.db
        .selectFrom('usage_records')
        .select('id')
        .where('user_id', '=', ada.userId)
        .execute()
    ).length

  const WHOLE: Record<string, [string, object]> = {
    chat: ['/api/ai/chat', { messages: HI }],
    completion: ['/api/ai/completions', { prompt: 'Hi' }],
    "OpenAI's chat": ['/v1/chat/completions', { model: MODEL, messages: HI }],
    "a Claude in OpenAI's words": ['/v1/chat/completions', { model: CLAUDE, messages: HI }],
    'a response': ['/v1/responses', { model: MODEL, input: 'Hi' }],
    'a translated response': ['/v1/responses', { model: CLAUDE, input: 'Hi' }],
    'a message': ['/v1/messages', { model: CLAUDE, messages: HI, max_tokens: 100 }],
    'a translated message': ['/v1/messages', { model: MODEL, messages: HI, max_tokens: 100 }],
    embeddings: ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
  }

  test('returns the same reply for the same request, free of charge, with one record', async () => {
    vendor.play(answers('Hello you'))
    for (const [name, [path, body]] of Object.entries(WHOLE)) {
      const first = await ada.post(path, body, kept())
      assert.deepEqual(
        [first.status, ...told(first.headers)],
        [200, 'miss', null],
        `${name}: ${first.text}`,
      )
      const paid = await lastRecord()
      const before = await records()
      const asked = vendor.calls.length
      app.clock.advance(2_500)

      const reordered = Object.fromEntries(Object.entries(body).toReversed())
      const again = await ada.post(path, reordered, kept())
      assert.deepEqual([again.status, again.headers.get('x-latchkey-cache')], [200, 'hit'], name)
      assert.ok(Number(again.headers.get('age')) >= 2, name)
      assert.equal(again.headers.get('x-latchkey-cost-usd'), '0', name)
      assert.equal(vendor.calls.length, asked, `${name}: nobody is asked`)
      assert.equal(await records(), before + 1, name)
      if (first.body.usage.cost_usd !== undefined) {
        assert.ok(first.body.usage.cost_usd > 0, name)
        first.body.usage.cost_usd = 0
      }
      assert.deepEqual(again.body, first.body, name)

      const free = await lastRecord()
      assert.deepEqual(
        [free.route, free.vendor, free.model, free.outcome, free.tried, free.attempts, free.status],
        [path, paid.vendor, paid.model, 'ok', 'cache', 0, 200],
        name,
      )
      assert.deepEqual(
        [free.prompt_tokens, free.completion_tokens, free.cost_nanos],
        [0, 0, 0],
        name,
      )
    }
  })

  test('replays a stream byte for byte, except for its cost', async () => {
    vendor.play(says('Hello you "cost_usd": 7'))
    const streams: [string, object][] = [
      ...Object.values(WHOLE).filter(
        ([path]) => path !== '/v1/embeddings' && path !== '/api/ai/completions',
      ),
      [
        '/v1/chat/completions',
        { model: MODEL, messages: HI, stream_options: { include_usage: true } },
      ],
      ['/api/ai/chat', { messages: HI, include_usage: true }],
    ]
    for (const [path, rest] of streams) {
      const name = `${path} ${JSON.stringify(rest)}`
      const body = { ...rest, stream: true }
      const first = await ada.post(path, body, kept())
      assert.deepEqual([first.status, ...told(first.headers)], [200, 'miss', null], name)
      const asked = vendor.calls.length
      const again = await ada.post(path, body, kept())
      assert.deepEqual([again.status, again.headers.get('x-latchkey-cache')], [200, 'hit'], name)
      assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
      assert.equal(again.headers.get('x-latchkey-cost-usd'), '0')
      assert.equal(vendor.calls.length, asked)
      assert.ok(first.text.length > 100, name)
      assert.equal(again.text, first.text.replace(/"cost_usd":[\d.e-]+/g, '"cost_usd":0'), name)
      assert.equal((await lastRecord()).cost_nanos, 0)
    }
  })

  test('does not use replies older than either request allows, and stores nothing without the header', async () => {
    vendor.play(says('One'), says('Two'), says('Three'), says('Four'))
    const ask = async (options?: RequestOptions) => {
      const { body, headers } = await ada.post(
        '/api/ai/completions',
        { prompt: 'How old?' },
        options,
      )
      return [body.completion, headers.get('x-latchkey-cache')]
    }
    assert.deepEqual(await ask(), ['One', null])
    assert.deepEqual(await ask(kept(100)), ['Two', 'miss'])
    app.clock.advance(50_000)
    assert.deepEqual(await ask(kept(86_400)), ['Two', 'hit'])
    assert.deepEqual(await ask(kept(40)), ['Three', 'miss'], 'it is older than this')
    app.clock.advance(41_000)
    assert.deepEqual(await ask(kept(86_400)), ['Four', 'miss'], 'it was kept for forty seconds')
    await app.service.ai.gateway.replies.sweep()
    const old = app.platform.db
      .selectFrom('ai_replies')
      .select('key')
      .where('expires_at', '<=', app.clock.now())
    assert.deepEqual(await old.execute(), [])
  })

  test('misses for another body, route, model, dialect or beta', async () => {
    vendor.play(says('Hello'))
    const body = {
      model: MODEL,
      messages: [{ role: 'user', content: 'Who is it?' }],
      max_tokens: 50,
    }
    const claude = { ...body, model: CLAUDE }
    const others: [string, object, RequestOptions][] = [
      ['/v1/chat/completions', body, kept()],
      ['/v1/chat/completions', { ...body, max_tokens: 51 }, kept()],
      ['/v1/chat/completions', { ...body, user: 'customer-7' }, kept()],
      ['/v1/chat/completions', { ...body, stream: true }, kept()],
      ['/v1/messages', body, kept()],
      ['/v1/messages', claude, kept()],
      ['/v1/messages', claude, kept(3_600, { 'anthropic-beta': 'context-1m-2025-08-07' })],
      // The order of a list matters, and long integers differ in their last digit.
      ['/v1/chat/completions', { ...body, stop: ['a', 'b'] }, kept()],
      ['/v1/chat/completions', { ...body, stop: ['b', 'a'] }, kept()],
    ]
    for (const [path, sent, options] of others) {
      assert.equal(
        (await ada.post(path, sent, options)).headers.get('x-latchkey-cache'),
        'miss',
        JSON.stringify(sent),
      )
    }
    const withId = (digits: string) =>
      ada.post(
        '/v1/chat/completions',
        `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi","id":${digits}}]}`,
        { headers: { 'content-type': 'application/json', 'x-latchkey-cache': '60' } },
      )
    assert.equal((await withId('12345678901234567')).headers.get('x-latchkey-cache'), 'miss')
    assert.equal((await withId('12345678901234568')).headers.get('x-latchkey-cache'), 'miss')
    assert.equal((await withId('12345678901234568')).headers.get('x-latchkey-cache'), 'hit')
  })

  test('never returns another user’s reply, or a model that the key excludes', async () => {
    vendor.play(says('A secret of Ada’s'))
    const body = { model: MODEL, messages: [{ role: 'user', content: 'What is my secret?' }] }
    const ask = (client: Pick<Client, 'post'>, more: object = {}, headers = {}) =>
      client.post('/v1/chat/completions', { ...body, ...more }, kept(3_600, headers))
    assert.equal((await ask(ada)).headers.get('x-latchkey-cache'), 'miss')
    const eve = await app.as('eve', { tier: 'enterprise' })
    assert.equal((await ask(eve)).headers.get('x-latchkey-cache'), 'miss')
    assert.equal((await ask(ada)).headers.get('x-latchkey-cache'), 'hit')

    const keyOf = async (models?: string[]) =>
      (await ada.post('/api/api-keys', { name: 'k', models })).body
    const bearing = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` })
    const confined = await keyOf(['claude-*'])
    const refused = await ask(app, {}, bearing(confined))
    assert.deepEqual([refused.status, refused.headers.get('x-latchkey-cache')], [403, null])
    assert.equal(refused.text.includes('secret of'), false)
    // With an alias, the key reaches only its own models, which makes it another request.
    assert.equal((await ask(ada, { model: 'either' })).headers.get('x-latchkey-cache'), 'miss')
    const own = await ask(app, { model: 'either' }, bearing(confined))
    assert.equal(own.status, 200, own.text)
    assert.deepEqual(
      [own.headers.get('x-latchkey-cache'), own.headers.get('x-latchkey-vendor')],
      ['miss', 'anthropic'],
    )

    const open = await keyOf()
    assert.equal((await ask(app, {}, bearing(open))).headers.get('x-latchkey-cache'), 'hit')
    assert.equal((await ada.delete(`/api/api-keys/${open.id}`)).status, 200)
    assert.equal((await ask(app, {}, bearing(open))).status, 401)

    // The database contains neither the question nor the answer in plain text.
    const rows = await app.platform.db
      .selectFrom('ai_replies')
      .selectAll()
      .where('user_id', '=', ada.userId)
      .execute()
    assert.ok(rows.length > 0)
    assert.equal(/secret/.test(JSON.stringify(rows)), false)
  })

  test('does not store replies that were cut, rejected or abandoned', async () => {
    const body = { model: MODEL, messages: [{ role: 'user', content: 'Half?' }] }
    const ask = (stream: boolean, signal?: AbortSignal) =>
      ada.post(
        '/v1/chat/completions',
        { ...body, stream },
        { ...kept(), ...(signal && { signal }) },
      )
    vendor.play(cuts('Half an'))
    await ask(true)
    assert.equal((await ask(true)).headers.get('x-latchkey-cache'), 'miss')
    vendor.play(refuses(400))
    assert.equal((await ask(false)).status, 400)
    vendor.play(says('It takes a while to say all of this', { gapMs: 100 }))
    await assert.rejects(ask(true, AbortSignal.timeout(150)))
    await vendor.calls[0]?.gone
    vendor.play(says('Whole'))
    for (const stream of [true, false]) {
      const whole = await ask(stream)
      assert.equal(whole.headers.get('x-latchkey-cache'), 'miss')
      assert.match(whole.text, /Whole/)
      assert.equal((await ask(stream)).headers.get('x-latchkey-cache'), 'hit')
    }
  })

  test('rejects a wrong number of seconds in the shape of each API', async () => {
    for (const wrong of ['0', '86401', '1e3', '-5', '3.5', 'yes', '', '99999999999999999999']) {
      const own = await ada.post('/api/ai/chat', { messages: HI }, kept(wrong))
      assert.deepEqual(
        [own.status, own.body.detail?.[0]?.loc],
        [422, ['header', 'X-Latchkey-Cache']],
        wrong,
      )
      for (const name of ["OpenAI's chat", 'a message', 'a response', 'embeddings']) {
        const [path, body] = WHOLE[name] ?? ['', {}]
        const { status, body: told } = await ada.post(path, body, kept(wrong))
        assert.deepEqual([status, typeof told.error.message], [400, 'string'], `${name} ${wrong}`)
      }
    }
  })

  test('a hit uses no budget, and is answered when the budget is used up', async () => {
    vendor.play(says('Budgeted', { usage: { prompt: 10, completion: 5 } }))
    const { key } = (await ada.post('/api/api-keys', { name: 'small', monthly_token_limit: 60 }))
      .body
    const ask = (content: string) =>
      app.post(
        '/v1/chat/completions',
        { model: MODEL, messages: [{ role: 'user', content }], max_tokens: 5 },
        kept(3_600, { authorization: `Bearer ${key}` }),
      )
    const first = await ask('one')
    assert.equal(first.status, 200, first.text)
    for (let n = 0; n < 20; n++)
      assert.equal((await ask('one')).headers.get('x-latchkey-cache'), 'hit')
    assert.equal((await ask('two')).status, 200, 'twenty hits have left room')
    for (let n = 0; n < 5; n++) await ask(`more ${n}`)
    assert.equal((await ask('last')).status, 429)
    assert.equal((await ask('one')).headers.get('x-latchkey-cache'), 'hit')
  })

  test('does not store a reply that is too long, and removes the oldest beyond the user’s and the total bound', async () => {
    vendor.play(says('x '.repeat(600_000)))
    const long = () => ada.post('/api/ai/completions', { prompt: 'At length' }, kept())
    assert.equal((await long()).status, 200)
    assert.equal((await long()).headers.get('x-latchkey-cache'), 'miss')

    const bob = await app.as('bob', { tier: 'pro' })
    const cid = await app.as('cid', { tier: 'pro' })
    await app.platform.db.deleteFrom('ai_replies').execute()
    const cache = createReplyCache(app.platform, {
      reply: 300,
      user: 2_000,
      userReplies: 4,
      all: 3_000,
    })
    const keep = (userId: string, key: string, length: number) => {
      app.clock.advance(1_000)
      return cache.keep(userId, key, 3_600, {
        text: 'y'.repeat(length),
        vendor: 'openai',
        model: MODEL,
      })
    }
    const held = async (userId: string) => {
      const rows = await app.platform.db
        .selectFrom('ai_replies')
        .select('key')
        .where('user_id', '=', userId)
        .execute()
      return rows.map(({ key }) => key).sort()
    }
    await keep(bob.userId, 'too long', 301)
    assert.deepEqual(await held(bob.userId), [])
    for (const key of ['a', 'b', 'c', 'd', 'e']) await keep(bob.userId, key, 10)
    assert.deepEqual(await held(bob.userId), ['b', 'c', 'd', 'e'], 'four at most')
    await app.platform.db.deleteFrom('ai_replies').execute()
    // Encrypted replies have some 440 bytes each.
    for (const key of ['f', 'g', 'h', 'i']) await keep(bob.userId, key, 300)
    for (const key of ['j', 'k', 'l', 'm']) await keep(cid.userId, key, 300)
    await cache.sweep()
    assert.deepEqual(
      [await held(bob.userId), await held(cid.userId)],
      [
        ['h', 'i'],
        ['j', 'k', 'l', 'm'],
      ],
    )
    const tight = createReplyCache(app.platform, { ...cache.limits, user: 1_000 })
    app.clock.advance(1_000)
    await tight.keep(cid.userId, 'n', 3_600, {
      text: 'z'.repeat(300),
      vendor: 'openai',
      model: MODEL,
    })
    assert.deepEqual(await held(cid.userId), ['m', 'n'])
  })

  test('rejects a body that is nested too deeply for a key', async () => {
    const extra = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const deep = `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}],"extra":${extra}}`
    const refused = await ada.post(
      '/v1/chat/completions',
      deep,
      kept(60, { 'content-type': 'application/json' }),
    )
    assert.deepEqual(
      [refused.status, refused.body.error.type],
      [400, 'invalid_request_error'],
      refused.text,
    )
  })

  test('deletes the cached replies with the account', async () => {
    vendor.play(says('Hello'))
    const dan = await app.as('dan', { tier: 'pro' })
    assert.equal((await dan.post('/api/ai/completions', { prompt: 'Hi' }, kept())).status, 200)
    const held = () =>
      app.platform.db
        .selectFrom('ai_replies')
        .select('key')
        .where('user_id', '=', dan.userId)
        .execute()
    assert.equal((await held()).length, 1)
    assert.equal((await dan.delete('/api/users/me', { password: PASSWORD })).status, 200)
    await app.settle()
    assert.deepEqual(await held(), [])
  })
})
