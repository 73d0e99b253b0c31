import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, says, silent, silentAfterHead } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Tell me a long story' }]

async function outcomes(app: TestApp) {
  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(({ fn }) => ['outcome', fn.countAll<number>().as('calls')])
    .groupBy('outcome')
    .orderBy('outcome')
    .execute()
  return Object.fromEntries(rows.map(({ outcome, calls }) => [outcome, Number(calls)]))
}

async function until(what: string, isTrue: () => boolean | Promise<boolean>) {
  for (let left = 400; left > 0; left--) {
    if (await isTrue()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`not reached: ${what}`)
}

/** Leaves before the first byte, or after the first chunk. */
async function leave(
  app: TestApp,
  token: string,
  { stream, afterFirst }: { stream: boolean; afterFirst: boolean },
) {
  const controller = new AbortController()
  const asked = fetch(`${app.url}/api/ai/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: HI, stream }),
    signal: controller.signal,
  })
  if (afterFirst) {
    const reply = await asked
    await reply.body?.getReader().read()
    controller.abort()
    return
  }
  asked.catch(() => {})
  return controller
}

test('closes the vendor’s connection when the client leaves, streamed or not, before and after the first byte', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const { token } = await app.as('ada', { tier: 'pro' })

  const cases = [
    { step: silent, stream: false, afterFirst: false },
    { step: silent, stream: true, afterFirst: false },
    { step: silentAfterHead, stream: true, afterFirst: false },
    { step: says('word '.repeat(2_000), { gapMs: 5 }), stream: true, afterFirst: true },
  ]
  for (const { step, ...how } of cases) {
    vendor.play(step)
    const controller = await leave(app, token, how)
    await until('the vendor is asked', () => vendor.calls.length === 1)
    controller?.abort()
    await vendor.calls[0]!.gone
  }
  await until('each is recorded', async () => (await outcomes(app)).cancelled === cases.length)
  assert.deepEqual(await outcomes(app), { cancelled: cases.length })
})

test('records the usage of a cancelled stream up to the cancellation', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('word '.repeat(2_000), { gapMs: 2 }))

  await leave(app, ada.token, { stream: true, afterFirst: true })
  await until('it is recorded', async () => (await outcomes(app)).cancelled === 1)

  const { body } = await ada.get('/api/usage')
  assert.equal(body.totals.requests, 1)
  assert.ok(body.totals.prompt_tokens > 0)
  assert.ok(body.totals.completion_tokens > 0)
})

test('leaks nothing after a thousand disconnects, before and after the first byte, streamed and not', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const { token } = await app.as('ada', { tier: 'pro' })
  const warnings: string[] = []
  const onWarning = (warning: Error) => warnings.push(warning.name)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const ways = [
    { step: silent, stream: false, afterFirst: false },
    { step: silent, stream: true, afterFirst: false },
    { step: silentAfterHead, stream: true, afterFirst: false },
    { step: says('word '.repeat(500), { gapMs: 3 }), stream: true, afterFirst: true },
  ]
  const total = 1_000
  const inFlight = 50
  const closingMs: number[] = []

  for (let done = 0; done < total; done += inFlight) {
    const { step, ...how } = ways[(done / inFlight) % ways.length]!
    vendor.play(step)
    const leaving = Promise.all(Array.from({ length: inFlight }, () => leave(app, token, how)))
    await until('all are asked', () => vendor.calls.length === inFlight)
    const controllers = await leaving
    const leftAt = performance.now()
    for (const controller of controllers) controller?.abort()
    await Promise.all(
      vendor.calls.map(({ gone }) =>
        gone.then(() => void closingMs.push(Math.round(performance.now() - leftAt))),
      ),
    )
  }

  await until('each is recorded', async () => (await outcomes(app)).cancelled === total)
  assert.deepEqual(await outcomes(app), { cancelled: total })
  await until('the vendor’s sockets are closed', () => vendor.openSockets === 0)
  const { limiter, breakers } = app.service.ai.gateway
  assert.deepEqual([limiter.running, limiter.waiting, breakers.openai!.state], [0, 0, 'closed'])
  assert.deepEqual(warnings, [], 'a warning of Node’s would tell of listeners that pile up')
  assert.equal(
    (await app.platform.db.selectFrom('usage_open_calls').selectAll().execute()).length,
    0,
  )

  // The times are informative only: two busy cores guarantee none.
  closingMs.sort((a, b) => a - b)
  t.diagnostic(`closed after ${closingMs[total / 2]} ms (median), ${closingMs.at(-1)} ms at most`)
  vendor.play(says('still here'))
  const reply = await app.post(
    '/api/ai/chat',
    { messages: HI },
    { headers: { authorization: `Bearer ${token}` } },
  )
  assert.equal(reply.body.content, 'still here')
})
