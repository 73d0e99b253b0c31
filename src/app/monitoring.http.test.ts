// The shipped alert rules and dashboard use metrics that exist, and docs/operations.md describes
// each alert.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8')
const RULES = read('deploy/prometheus/latchkey.rules.yml')
const BOARD = JSON.parse(read('deploy/grafana/latchkey.json')) as {
  panels: { id: number; title: string; targets?: { expr: string }[] }[]
}

const rules = [...RULES.matchAll(/^ {6}- alert: (\w+)\n {8}expr: (.+)$/gm)].map(
  ([, name = '', expr = '']) => ({ name, expr }),
)
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...BOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
]

/** The metrics of an expression with their labels. */
function selectorsIn(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:latchkey|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name,
      labels: [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  )
}

test('every alert and every panel uses existing metrics and labels', async (t) => {
  const vendor = await mockVendor(t)
  const shop = await openShop(t, { ...vendor.env.openai, METRICS_TOKEN: 'for-metrics' })
  const { app } = shop
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (more: object = {}) =>
    ada.post('/api/ai/chat', {
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      ...more,
    })
  vendor.play(says('Hello', { usage: { prompt: 10, completion: 2 } }))
  await ask()
  await ask({ model: 'made-up-by-a-caller' })
  await app.post('/api/auth/login', { email: 'ada@example.com', password: 'not the password' })
  const buyer = await shop.buyer('eve')
  const payment = await shop.sell(buyer, 'pro')
  assert.equal((await buyer.download()).status, 200)
  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 29_900,
    amount_refunded: 9_900,
    refunded: false,
  })

  const { text } = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
  const told = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = told.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
    told.set(name, known)
  }
  const value = (line: string) =>
    Number(
      text
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.split(' ')
        .at(-1),
    )
  assert.equal(value('latchkey_sign_ups_total{way="password"}'), 2)
  assert.equal(value('latchkey_subscriptions{plan="pro",status="active"}'), 1)
  assert.equal(value('latchkey_revenue_minor_units_total{kind="purchase",currency="usd"}'), 29_900)
  assert.equal(value('latchkey_refunds_minor_units_total{kind="purchase",currency="usd"}'), 9_900)
  assert.equal(value('latchkey_downloads_total{tier="pro"}'), 1)
  assert.equal(value('latchkey_ai_calls_total{vendor="openai",model="other",outcome="ok"}'), 1)
  assert.equal(value('latchkey_neighbour_up{neighbour="database-writes"}'), 1)
  assert.doesNotMatch(text, /made-up-by-a-caller|ada@|eve@/)

  // Metrics that exist only with a collector, Redis, a remote clock or a failover.
  const seldom = new Map([
    ['latchkey_trace_spans_total', ['result']],
    ['latchkey_clock_skew_seconds', []],
    ['latchkey_ai_retries_total', ['vendor']],
    ['latchkey_ai_failovers_total', ['from', 'to']],
  ])
  for (const [name, labels] of seldom) {
    if (name !== 'latchkey_trace_spans_total') assert.ok(text.includes(`# TYPE ${name} `), name)
    if (!told.has(name)) told.set(name, new Set(labels))
  }
  // Prometheus' own.
  const own = ['job', 'instance', 'le']
  const wrong = expressions.flatMap((expr) =>
    selectorsIn(expr).flatMap(({ name, labels }) => {
      const known = told.get(name)
      if (known === undefined) return [`${name} is not told: ${expr}`]
      return labels
        .filter((label) => !own.includes(label) && !known.has(label))
        .map((label) => `${name}{${label}}: ${expr}`)
    }),
  )
  assert.deepEqual(wrong, [])
  const used = new Set(expressions.flatMap((expr) => selectorsIn(expr).map(({ name }) => name)))
  const missing = [...told.keys()].filter(
    (name) => name.startsWith('latchkey_') && !/_(sum|count|bucket)$/.test(name) && !used.has(name),
  )
  assert.deepEqual(missing, ['latchkey_ai_resting_models'], 'what nobody looks at')
})

test('every alert has its heading in the handbook, and every heading its alert', () => {
  const alerts = [...RULES.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  assert.equal(rules.length, alerts.length, 'each with an expression on one line')
  assert.equal(new Set(alerts).size, alerts.length)
  const headings = [...read('docs/operations.md').matchAll(/^### (Latchkey\w+)$/gm)].map(
    ([, name = '']) => name,
  )
  assert.deepEqual(headings, alerts)
  for (const { expr } of rules) {
    for (const [open, close] of ['()', '{}', '[]'])
      assert.equal(expr.split(open ?? '').length, expr.split(close ?? '').length, expr)
  }
  const ids = BOARD.panels.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
})
