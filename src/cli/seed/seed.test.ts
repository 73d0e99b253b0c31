import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { DAY_MS } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { CAST } from './cast.ts'
import { insertCrowd } from './crowd.ts'
import { type Deed, listDeeds } from './script.ts'

/** The seed fills a folder with SQLite, so it does not run on a server. */
const ON_SQLITE_ONLY = {
  skip: process.env.TEST_DATABASE_URL !== undefined && 'it fills a folder, not a server',
}
const NOW = Date.parse('2026-11-22T10:00:00.000Z')

test('a date determines its past year: sorted, and without future events', () => {
  const { catalogue } = readConfig({})
  const deeds = listDeeds(NOW, catalogue)
  assert.deepEqual(listDeeds(NOW + 3_600_000, catalogue), deeds)
  assert.notDeepEqual(listDeeds(NOW, catalogue, { number: 2 }), deeds)
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

test('extra customers depend on the number only, and join before trials are offered', () => {
  const { catalogue } = readConfig({})
  const extend = (number: number) => listDeeds(NOW, catalogue, { number, customers: 40 })
  const deeds = extend(7)
  assert.deepEqual(extend(7), deeds)
  const listPayers = (of: Deed[]) =>
    of.flatMap((deed) => (deed.kind === 'subscribe' ? [deed.email] : []))
  const payers = listPayers(deeds)
  assert.equal(payers.length, listPayers(listDeeds(NOW, catalogue)).length + 40)
  assert.equal(new Set(payers).size, payers.length)
  const offered = deeds.find(({ kind }) => kind === 'offer-trials')?.at ?? ''
  const late = listPayers(deeds.filter(({ at }) => at > offered))
  assert.deepEqual(late.sort(), ['dennis', 'hedy', 'sophie', 'tony'].map(atExample))
})

test(
  'fills a new data folder once, with payments that match the processor',
  ON_SQLITE_ONLY,
  async (t) => {
    const folder = temporary(t)
    // An existing file without tables counts as empty.
    new DatabaseSync(join(folder, 'latchkey.db')).close()
    const first = seed(folder, {}, '--users', '100')
    const counted =
      /^100 users, 18 API keys, 18 subscriptions, 8 purchases, 40 documents, 18 conversations, 5 messages, \d+ calls\nSign in as ada@example.com/
    assert.match(first.stdout, counted, first.stderr)
    assert.equal(first.status, 0)

    const second = seed(folder)
    assert.match(second.stdout, /Refused: this database has users/)
    assert.equal(second.status, 1)

    const app = await testApp(t, { onData: { dataDir: folder, databaseUrl: null } })
    const { disagreements, accounts, is_whole } = await app.service.billing.reportDisagreements()
    assert.deepEqual([disagreements, accounts, is_whole], [[], 18, true])
    await app.service.billing.sync()
    assert.deepEqual(
      (await app.service.billing.reportDisagreements()).disagreements,
      [],
      'nor of half a year',
    )

    const { db } = app.platform
    const everyone = await db.selectFrom('users').selectAll().execute()
    assert.equal(everyone.length, 100)
    const cast = CAST.map(({ name }) => atExample(name.split(' ')[0]?.toLowerCase() ?? ''))
    const users = everyone.filter(({ email }) => cast.includes(email))
    assert.ok(
      users.every(
        ({ last_login_at }) => last_login_at !== null && last_login_at < new Date().toISOString(),
      ),
    )
    assert.deepEqual(
      users
        .filter(({ subscription_status }) => subscription_status !== 'active')
        .map(({ email, subscription_status }) => `${email}: ${subscription_status}`)
        .sort(),
      [
        'anita@example.com: cancelled',
        'dennis@example.com: cancelled',
        'edsger@example.com: free',
        'evelyn@example.com: free',
        'john@example.com: free',
        'karen@example.com: free',
        'margaret@example.com: cancelled',
        'niklaus@example.com: cancelled',
        'tony@example.com: past_due',
      ],
    )
    const findStatus = async (name: string) =>
      (
        await db
          .selectFrom('billing_accounts')
          .innerJoin('users', 'users.id', 'billing_accounts.user_id')
          .select('processor_status')
          .where('email', '=', atExample(name))
          .executeTakeFirst()
      )?.processor_status
    assert.deepEqual([await findStatus('sophie'), await findStatus('hedy')], ['trialing', 'active'])
    const rows = async (table: SeededTable) =>
      Number(
        (await db.selectFrom(table).select(db.fn.countAll().as('rows')).executeTakeFirst())?.rows,
      )
    for (const [table, count] of Object.entries({
      refunds: 2,
      disputes: 1,
      contact_messages: 5,
      contact_replies: 3,
      conversations: 18,
      conversation_messages: 58,
      downloads: 7,
      activations: 6,
    })) {
      assert.equal(await rows(table as SeededTable), count, table)
    }
    const beginnings = await db
      .selectFrom('conversation_messages')
      .select('conversation_id')
      .where('parent_id', 'is', null)
      .execute()
    assert.equal(beginnings.length, 18, 'each conversation is one thread')
    const [failed, ...others] = await app.platform.jobs.dead()
    assert.match(failed?.last_error ?? '', /domain of the address does not exist/)
    assert.deepEqual(others, [])
    const invited = await app.service.identity.listInvitations()
    assert.deepEqual(
      invited.map(({ email }) => email),
      ['lynn.conway@example.net'],
    )
    assert.ok((await rows('invoices')) > 60)

    const signIn = async (name: string) => {
      const credentials = { email: atExample(name), password: 'correct horse battery' }
      const { access_token } = (await app.post('/api/auth/login', credentials)).body
      return { authorization: `Bearer ${access_token}` }
    }
    const root = await signIn('root')
    const listEmails = async (state: string) =>
      (await app.get(`/api/admin/emails?limit=100&state=${state}`, { headers: root })).body.emails
    const [rejected, ...more] = await listEmails('failed')
    assert.deepEqual(
      [rejected.address, rejected.subject, rejected.error],
      [
        'joseph@weizenbaum.invalid',
        'You are invited to join Latchkey',
        '550 5.1.2 The domain of the address does not exist',
      ],
    )
    assert.deepEqual(more, [])
    const sent: { created_at: string; subject: string }[] = await listEmails('sent')
    assert.ok(sent.length > 90)
    assert.ok(
      sent.some(({ subject }) => subject === 'The payment for your Pro plan did not go through'),
    )
    assert.ok((sent.at(-1)?.created_at ?? '') < new Date(Date.now() - 180 * DAY_MS).toISOString())

    const headers = await signIn('ada')
    const { body } = await app.get('/api/billing/invoices', { headers })
    assert.equal(body.invoices[0].status, 'paid')
    const allowance = (await app.get('/api/usage/allowance', { headers })).body
    assert.ok(allowance.used_usd > 0, 'calls count in the period that the customer has paid for')
    const [key] = (await app.get('/api/api-keys', { headers })).body
    assert.ok(key.last_used_at > new Date(Date.now() - 3 * DAY_MS).toISOString())
    const documents: { source: string }[] = (await app.get('/api/rag/documents', { headers })).body
    assert.ok(documents.some(({ source }) => source.endsWith('.pdf')))
  },
)

test('writes users with a short history in batches, each with a last sign-in', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const crowd = { count: 1_100, number: 3, passwordHash: 'none' }
  const calls = await insertCrowd(app.service, crowd)
  const { count, unseen, first, last } = await db
    .selectFrom('users')
    .select((e) => [
      e.fn.countAll().as('count'),
      e.fn.sum(e.case().when('last_login_at', 'is', null).then(1).else(0).end()).as('unseen'),
      e.fn.min('created_at').as('first'),
      e.fn.max('created_at').as('last'),
    ])
    .executeTakeFirstOrThrow()
  assert.deepEqual([Number(count), Number(unseen)], [1_100, 0])
  assert.ok(first > new Date(app.clock.ms() - 366 * DAY_MS).toISOString())
  assert.ok(last < app.clock.now())
  const records = await db
    .selectFrom('usage_records')
    .select(db.fn.countAll().as('count'))
    .executeTakeFirst()
  assert.ok(calls > 50)
  assert.equal(Number(records?.count), calls)
})

test('prints its usage for a wrong option', (t) => {
  for (const args of [
    ['--users', 'many'],
    ['--customers', '3'],
  ]) {
    const { stdout, status } = seed(temporary(t), {}, ...args)
    assert.match(stdout, /^Usage: seed \[--number N\] \[--users N\]/)
    assert.equal(status, 2)
  }
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

type SeededTable =
  | 'refunds'
  | 'disputes'
  | 'invoices'
  | 'contact_messages'
  | 'contact_replies'
  | 'conversations'
  | 'conversation_messages'
  | 'downloads'
  | 'activations'

const atExample = (name: string) => `${name}@example.com`

function seed(dataDir: string, env: Record<string, string> = {}, ...args: string[]) {
  return spawnSync(
    process.execPath,
    [join(import.meta.dirname, '..', 'main.ts'), 'seed', ...args],
    {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env },
      encoding: 'utf8',
      timeout: 900_000,
    },
  )
}
