import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { testApp } from '#testing/app.ts'
import { listDeeds } from './script.ts'

const NOW = Date.parse('2026-11-22T10:00:00.000Z')

test('a date determines its past year: sorted, and without future events', () => {
  const { catalogue } = readConfig({})
  const deeds = listDeeds(NOW, catalogue)
  assert.deepEqual(listDeeds(NOW + 3_600_000, catalogue), deeds)
  assert.ok(deeds.every(({ at }, index) => index === 0 || (deeds[index - 1]?.at ?? '') <= at))
  assert.ok((deeds.at(-1)?.at ?? '') < new Date(NOW).toISOString())
  assert.ok(deeds.filter(({ kind }) => kind === 'call').length > 2_000)
})

test('customers choose paid plans, wherever the catalogue lists the free one, and existing products', (t) => {
  const path = join(temporary(t), 'catalogue.json')
  const team = { tier: 'team', name: 'Team', prices: { month: 'price_team' }, grants: ['ai'] }
  const free = { tier: 'free', name: 'Free', prices: {}, grants: [] }
  const kit = { tier: 'kit', name: 'Kit', price: 60_000, currency: 'jpy' }
  writeFileSync(path, JSON.stringify({ plans: [team, free], products: [kit] }))
  const deeds = listDeeds(NOW, readConfig({ CATALOGUE: path }).catalogue)
  const of = (kind: string) => deeds.filter((deed) => deed.kind === kind)
  assert.ok(
    of('subscribe').length > 0 &&
      of('subscribe').every((deed) => 'tier' in deed && deed.tier === 'team'),
  )
  assert.ok(
    of('buy').length > 0 && of('buy').every((deed) => 'tier' in deed && deed.tier === 'kit'),
  )
})

test('fills a new data folder once, with payments that match the processor', async (t) => {
  const folder = temporary(t)
  // An existing file without tables counts as empty.
  new DatabaseSync(join(folder, 'latchkey.db')).close()
  const first = seed(folder)
  const counted =
    /^13 users, 9 API keys, 9 subscriptions, 7 purchases, 30 documents, 4 messages, (\d+) calls\nSign in as ada@example.com/
  assert.match(first.stdout, counted, first.stderr)
  assert.equal(first.status, 0)

  const second = seed(folder)
  assert.match(second.stdout, /Refused: this database has users/)
  assert.equal(second.status, 1)

  const app = await testApp(t, { onData: { dataDir: folder, databaseUrl: null } })
  const { disagreements, accounts, is_whole } = await app.service.billing.reportDisagreements()
  assert.deepEqual([disagreements, accounts, is_whole], [[], 9, true])
  await app.service.billing.sync()
  assert.deepEqual(
    (await app.service.billing.reportDisagreements()).disagreements,
    [],
    'nor of half a year',
  )

  const { db } = app.platform
  const users = await db
    .selectFrom('users')
    .selectAll()
    .where('email', '!=', 'root@example.com')
    .execute()
  assert.ok(
    users.every(
      ({ last_login_at }) => last_login_at !== null && last_login_at < new Date().toISOString(),
    ),
  )
  const statusOf = (name: string) =>
    users.find(({ email }) => email === `${name}@example.com`)?.subscription_status
  assert.deepEqual(
    [statusOf('ada'), statusOf('tony'), statusOf('karen')],
    ['active', 'past_due', 'free'],
  )
  const rows = async (table: 'refunds' | 'disputes' | 'invoices' | 'contact_messages') =>
    Number(
      (await db.selectFrom(table).select(db.fn.countAll().as('rows')).executeTakeFirst())?.rows,
    )
  assert.deepEqual(
    [await rows('refunds'), await rows('disputes'), await rows('contact_messages')],
    [1, 1, 4],
  )
  assert.ok((await rows('invoices')) > 60)

  const signedIn = await app.post('/api/auth/login', {
    email: 'ada@example.com',
    password: 'correct horse battery',
  })
  const headers = { authorization: `Bearer ${signedIn.body.access_token}` }
  const { body } = await app.get('/api/billing/invoices', { headers })
  assert.equal(body.invoices[0].status, 'paid')
  const documents: { source: string }[] = (await app.get('/api/rag/documents', { headers })).body
  assert.ok(documents.some(({ source }) => source.endsWith('.pdf')))
})

test('prints the reason when documents cannot be stored', (t) => {
  const embedder = {
    OPENAI_API_KEY: 'sk-none',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    EMBEDDER: 'openai:text-embedding-3-small',
  }
  const { status, stderr } = seed(temporary(t), embedder)
  assert.match(stderr, /seed: POST \/api\/rag\/ingest\/file answered 50\d: \{"detail":"[^"]+/)
  assert.match(stderr, /Only a part of the year was written/)
  assert.equal(status, 1)
})

for (const [what, env] of [
  ['production', { NODE_ENV: 'production', SECRET_KEY: 'a secret of the operator' }],
  ['mail that leaves the machine', { SMTP_URL: 'smtp://127.0.0.1:9' }],
  [
    'a real processor',
    {
      STRIPE_SECRET_KEY: 'sk_test_of_the_operator',
      STRIPE_WEBHOOK_SECRET: 'whsec_of_the_operator',
    },
  ],
] as const) {
  test(`refuses ${what} and creates no database`, (t) => {
    const folder = join(temporary(t), 'new')
    const { status, stdout } = seed(folder, env)
    assert.match(stdout, /^Refused: /)
    assert.equal(status, 1)
    assert.equal(existsSync(folder), false)
  })
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-seed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function seed(dataDir: string, env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [join(import.meta.dirname, '..', 'main.ts'), 'seed'], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env },
    encoding: 'utf8',
    timeout: 120_000,
  })
}
