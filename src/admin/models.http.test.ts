// The operator's overview of vendors and models: states, circuits, failures, prices and costs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { cuts, mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { listEndpointFailures } from '#usage/vendor-failures.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const LUNA = 'gpt-6-luna'
const HAIKU = 'claude-haiku-5-5'

type Vendor = {
  name: string
  state: string
  calls: number
  failed: number
  cost_usd: number
  endpoints: { name: string; circuit: string }[]
  limited_models: string[]
  last_failure: Record<string, unknown> | null
}
type Model = {
  vendor: string
  model: string
  calls: number
  cost_usd: number
  is_default: boolean
  off_reason: string | null
}

test('the overview shows each vendor’s state, last failure and costs, and each model’s price and switch', async (t) => {
  const openai = await mockVendor(t)
  const anthropic = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...openai.env.openai,
      ...anthropic.env.anthropic,
      LLM_FALLBACKS: `anthropic/${HAIKU}`,
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const root = await app.as('root', { superuser: true })
  const ask = (model: string, more: object = {}) =>
    ada.post('/v1/chat/completions', { model, messages: HI, ...more })
  const read = async () => {
    const { status, body, text } = await root.get('/api/admin/models')
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, /sk-test|sk-ant/, 'keys stay secret')
    const vendor = (name: string) =>
      (body.vendors as Vendor[]).find((one) => one.name === name) as Vendor
    const model = (name: string) =>
      (body.models as Model[]).find((one) => `${one.vendor}/${one.model}` === name) as Model
    return { body, vendor, model }
  }

  assert.equal((await ada.get('/api/admin/models')).status, 403)
  const fresh = await read()
  assert.deepEqual(
    [fresh.vendor('openai').state, fresh.vendor('openai').last_failure],
    ['live', null],
  )
  assert.deepEqual(fresh.body.fallbacks, [`anthropic/${HAIKU}`])
  assert.equal(fresh.model(fresh.body.default_model).is_default, true)

  openai.play(says('Yes'))
  anthropic.play(says('Yes'))
  assert.equal((await ask(LUNA)).status, 200)
  // The other vendor answers, so the call itself does not fail.
  openai.play(refuses(401))
  assert.equal((await ask(LUNA)).status, 200)
  const moved = await read()
  const { at, user_id, request_id, ...failure } = moved.vendor('openai').last_failure ?? {}
  assert.deepEqual(failure, {
    endpoint: 'openai',
    failure: 'unauthorized',
    model: null,
    email: ada.email,
    error_code: null,
    error_detail: null,
  })
  assert.deepEqual([user_id, typeof request_id, typeof at], [ada.userId, 'string', 'string'])
  assert.deepEqual(
    [
      moved.vendor('openai').calls,
      moved.vendor('anthropic').calls,
      moved.model(`openai/${LUNA}`).calls,
    ],
    [1, 1, 1],
  )
  const usage = (await ada.get('/api/usage')).body.totals
  const cost = moved.vendor('openai').cost_usd + moved.vendor('anthropic').cost_usd
  assert.ok(cost > 0 && Math.abs(cost - usage.cost_usd) < 1e-9)

  const off = { kind: 'vendor', subject: 'anthropic', reason: 'An incident' }
  assert.equal((await root.post('/api/admin/switches', off)).status, 200)
  const switched = await read()
  assert.equal(switched.model(`anthropic/${HAIKU}`).off_reason, 'An incident')
  assert.equal(switched.model(`openai/${LUNA}`).off_reason, null)
})

test('the last failure of an endpoint is the newest, with the vendor’s own words, also of a stream that broke off', async (t) => {
  const openai = await mockVendor(t)
  const app = await testApp(t, { env: openai.env.openai })
  const { db } = app.platform
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (more: object = {}) =>
    ada.post('/v1/chat/completions', { model: LUNA, messages: HI, ...more })

  assert.deepEqual(await listEndpointFailures(db), [])
  openai.play(refuses(400))
  await ask()
  const [refused] = await listEndpointFailures(db)
  assert.deepEqual(
    [refused?.failure, refused?.error_code, refused?.model],
    ['refused', 'vendor_refused', LUNA],
  )
  assert.match(refused?.error_detail ?? '', /A failure that the test asked for/)

  openai.play(cuts('Half an'))
  await ask({ stream: true })
  const broken = await listEndpointFailures(db)
  assert.deepEqual(
    broken.map(({ endpoint, failure }) => [endpoint, failure]),
    [['openai', 'cut']],
  )

  openai.play(says('Yes'))
  await ask()
  assert.deepEqual(await listEndpointFailures(db, 1), [], 'only the newest calls are read')
})
