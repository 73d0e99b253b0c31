// Sixteen ways in which a vendor fails, each played by each of the three vendors, whole and
// streamed.
// Checks the caller's result, the vendor that answered, the number of attempts, and the ledger.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { freePorts, type Reply, testApp } from '#testing/app.ts'
import { blackHole } from '#testing/black-hole.ts'
import {
  babbles,
  cuts,
  drips,
  mockVendor,
  refuses,
  resets,
  type Step,
  says,
  silent,
  silentAfterHead,
} from '#testing/mock-vendor.ts'

type Name = 'openai' | 'anthropic' | 'gemini'
type Mode = 'whole' | 'stream'
const FALLBACK: Record<Name, Name> = { openai: 'anthropic', anthropic: 'gemini', gemini: 'openai' }

type Scenario = {
  name: string
  /** The first vendor's behaviour, one step per request; the last step repeats. */
  steps(mode: Mode): [Step, ...Step[]]
  /** The first vendor answers, the second does, or the answer breaks off. */
  ends: 'first' | 'second' | 'cut'
  attempts: number
  tried: string
  modes?: Mode[]
}

const well = says('from the first')
const again = (failure: string) => `first:${failure},first:ok`
const moved = (failure: string, times = 1) => `${`first:${failure},`.repeat(times)}second:ok`

const SCENARIOS: Scenario[] = [
  {
    name: 'a rate limit with a short Retry-After',
    steps: () => [refuses(429, { 'retry-after': '1' }), well],
    ends: 'first',
    attempts: 2,
    tried: again('limited'),
  },
  {
    name: 'a rate limit with a long Retry-After',
    steps: () => [refuses(429, { 'retry-after': '30' })],
    ends: 'second',
    attempts: 2,
    tried: moved('limited'),
  },
  {
    name: 'a rate limit without Retry-After',
    steps: () => [refuses(429), well],
    ends: 'first',
    attempts: 2,
    tried: again('limited'),
  },
  {
    name: 'a server error that passes',
    steps: () => [refuses(500), well],
    ends: 'first',
    attempts: 2,
    tried: again('broken'),
  },
  {
    name: 'a server error that stays',
    steps: () => [refuses(502)],
    ends: 'second',
    attempts: 4,
    tried: moved('broken', 3),
  },
  {
    name: 'an overloaded vendor (529)',
    steps: () => [
      refuses(
        529,
        {},
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ),
    ],
    ends: 'second',
    attempts: 4,
    tried: moved('limited', 3),
  },
  {
    name: 'a key that one vendor refuses (401)',
    steps: () => [refuses(401)],
    ends: 'second',
    attempts: 2,
    tried: moved('unauthorized'),
  },
  {
    name: 'a connection reset before the answer',
    steps: () => [resets, well],
    ends: 'first',
    attempts: 2,
    tried: again('unreachable'),
  },
  {
    name: 'a vendor that never says a word (first byte)',
    steps: () => [silent],
    ends: 'second',
    attempts: 2,
    tried: moved('timeout'),
  },
  {
    name: 'a vendor that says 200 and falls silent',
    steps: () => [silentAfterHead],
    ends: 'second',
    attempts: 2,
    tried: moved('timeout'),
  },
  {
    name: 'a stream that ends without its end mark',
    steps: () => [cuts('Half an', 'ends')],
    ends: 'cut',
    attempts: 1,
    tried: 'first:ok,cut',
    modes: ['stream'],
  },
  {
    name: 'a stream that stalls (idle)',
    steps: () => [cuts('Half an', 'stalls')],
    ends: 'cut',
    attempts: 1,
    tried: 'first:ok,cut',
    modes: ['stream'],
  },
  {
    name: 'a body that is malformed, truncated, empty or of another type',
    steps: (mode) => {
      const truncated = mode === 'stream' ? 'data: {"choices": [{"del' : '{"choices": [{"mess'
      return [babbles(truncated), babbles(''), babbles('<html>Sign in</html>', 'text/html')]
    },
    ends: 'second',
    attempts: 4,
    tried: moved('nonsense', 3),
  },
  {
    name: 'an answer that drips, longer in all than any timeout',
    steps: () => [drips('from the first', 120)],
    ends: 'first',
    attempts: 1,
    tried: 'first:ok',
  },
]

const QUICK = {
  AI_CONNECT_TIMEOUT_MS: '500',
  AI_DEADLINE_MS: '4000',
  AI_HEADERS_TIMEOUT_MS: '1500',
  AI_IDLE_TIMEOUT_MS: '1200',
}

async function setting(t: TestContext, name: Name, baseUrl?: string) {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  second.play(says('from the second'))
  const other = FALLBACK[name]
  const base = `${name.toUpperCase()}_BASE_URL`
  const app = await testApp(t, {
    env: {
      // A vendor that accepts no connection gets more time to the first byte than to the
      // connection.
      ...(baseUrl === undefined
        ? QUICK
        : { ...QUICK, AI_DEADLINE_MS: '9000', AI_HEADERS_TIMEOUT_MS: '5000' }),
      ...first.env[name],
      ...second.env[other],
      ...(baseUrl === undefined ? {} : { [base]: baseUrl }),
      LLM_FALLBACKS: other,
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (mode: Mode) =>
    ada.post('/api/ai/chat', {
      messages: [{ role: 'user', content: 'Hi' }],
      provider: name,
      stream: mode === 'stream',
    })

  const check = async (scenario: Pick<Scenario, 'ends' | 'attempts' | 'tried'>, mode: Mode) => {
    const reply = await ask(mode)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers.get('x-latchkey-vendor'), scenario.ends === 'second' ? other : name)
    assert.equal(reply.headers.get('x-latchkey-attempts'), String(scenario.attempts))
    if (scenario.ends === 'cut') {
      assert.match(
        reply.text,
        /event: error\ndata: \{"detail":"Vendor '\w+' [^"]+","code":"vendor_\w+"\}\n\n$/,
      )
      assert.equal(reply.text.includes('[DONE]'), false)
    } else {
      assert.equal(textOf(reply, mode), `from the ${scenario.ends}`)
    }
    const record = await app.platform.db
      .selectFrom('usage_records')
      .select(['vendor', 'outcome', 'attempts', 'tried'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      { ...record },
      {
        vendor: scenario.ends === 'second' ? other : name,
        outcome: scenario.ends === 'cut' ? 'failed' : 'ok',
        attempts: scenario.attempts,
        tried: scenario.tried.replaceAll('first', name).replaceAll('second', other),
      },
    )
    // Each scenario begins with closed breakers.
    app.clock.advance(61_000)
  }
  return { app, first, second, check, ask }
}

function textOf(reply: Reply, mode: Mode): string {
  if (mode === 'whole') return reply.body.content
  assert.match(reply.text, /data: \[DONE\]\n\n$/)
  return [...reply.text.matchAll(/data: (\{.*\})/g)]
    .map(([, data]) => JSON.parse(data!).token)
    .join('')
}

// Each vendor in each mode has a separate service and breaker, so that the tests can wait in
// parallel.
describe('every failure ends in an answer or a clear error', {
  concurrency: true,
}, () => {
  for (const name of ['openai', 'anthropic', 'gemini'] as const) {
    for (const mode of ['whole', 'stream'] as const) {
      test(`${name}, ${mode}`, async (t) => {
        const { first, second, check } = await setting(t, name)
        for (const [index, scenario] of SCENARIOS.entries()) {
          if (scenario.modes && !scenario.modes.includes(mode)) continue
          await t.test(`${index + 1}: ${scenario.name} (${name}, ${mode})`, async () => {
            first.play(...scenario.steps(mode))
            second.play(says('from the second'))
            await check(scenario, mode)
            assert.equal(first.calls.length, scenario.tried.match(/first:/g)?.length)
          })
        }
      })
    }

    test(`15: a refused connection (${name})`, async (t) => {
      const [port] = await freePorts(1)
      const { check } = await setting(t, name, `http://127.0.0.1:${port}`)
      const scenario = { ends: 'second', attempts: 4, tried: moved('unreachable', 3) } as const
      await check(scenario, 'whole')
      await check(scenario, 'stream')
    })

    test(`16: a connection that is never accepted (${name}, connect timeout)`, async (t) => {
      const { check } = await setting(t, name, (await blackHole(t)).url)
      // Requested once: a vendor that was silent once will be silent again.
      const scenario = { ends: 'second', attempts: 2, tried: moved('timeout') } as const
      await check(scenario, 'whole')
      await check(scenario, 'stream')
    })
  }
})
