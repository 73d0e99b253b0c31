import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { plus } from '#platform/clock.ts'
import { type Db, findDialect } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import { removeAged } from '#platform/retention.ts'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { findScans } from '#testing/plans.ts'
import { agedRows } from './retention.ts'

const DAY_MS = 86_400_000
const ENV = { RETENTION_DAYS: 'events=30,usage=100,contact=50' }

test('every growing table has a retention rule or a stated bound', async (t) => {
  const app = await testApp(t)
  const aged = new Set<string>(agedRows(app.config).map(({ table }) => table))
  const tables = await tablesOf(app.platform.db)

  assert.deepEqual(
    tables.filter((table) => !aged.has(table) && !(table in BOUNDED)),
    [],
  )
  assert.deepEqual(
    Object.keys(BOUNDED).filter((table) => !tables.includes(table) || aged.has(table)),
    [],
    'said of a table that is not there, or has a rule',
  )
})

/** The bound of each table without a retention rule. */
const BOUNDED: Record<string, string> = {
  ...of('one row a person, or a few; they go with the account', [
    'users',
    'oauth_links',
    'totp',
    'recovery_codes',
    'passkeys',
    'audit_persons',
    'lookups',
    'billing_accounts',
    'billing_customers',
    'store_checkouts',
    'release_optouts',
    'switches',
    'billing_notices',
    'deals',
  ]),
  ...of('what a person keeps; plans bound it, and it goes with the account', [
    'rag_stores',
    'rag_documents',
    'rag_external_ids',
    'rag_collections',
    'rag_collection_documents',
    'rag_chunks',
    'rag_vectors',
    'rag_originals',
    'conversation_settings',
    'conversations',
    'conversation_messages',
  ]),
  ...of('the books: kept as long as the law asks', [
    'purchases',
    'payments',
    'refunds',
    'disputes',
    'invoices',
    'subscription_changes',
  ]),
  ...of('goes with its session', ['session_tokens']),
  ...of('what superusers make, one row each', ['discounts', 'store_products', 'store_releases']),
  ...of('goes when its job ends', ['rag_job_inputs']),
  ...of('bounded in bytes; what has expired goes every ten minutes', ['ai_replies']),
  ...of('one row a running call or process', [
    'usage_open_calls',
    'usage_reservations',
    'usage_nodes',
  ]),
  ...of('one row a month and model', ['usage_archive']),
  ...of('eight rows a day', ['user_counts']),
  ...of('two rows a day', ['checkout_days']),
  ...of('old keys go when they verify nothing more', ['signing_keys']),
  ...of('one row a rotation by the operator', ['license_signing_keys']),
  ...of('one row a buyer and release', ['archive_checksums']),
  ...of('a fixed number of rows', [
    'migrations',
    'secrets',
    'write_probe',
    'backups',
    'service_parts',
    'billing_cursors',
    'audit_heads',
    'rag_originals_folder',
    'store_product_list',
    'brands',
  ]),
}

test('old rows are removed in slices by an index; younger rows stay', async (t) => {
  const app = await testApp(t, { env: ENV })
  const { db, clock, config } = app.platform
  await fill(app)

  const seen: string[] = []
  const rules = agedRows(config).map((rule) => ({
    ...rule,
    async removeSlice(...given: Parameters<typeof rule.removeSlice>) {
      const rows = await rule.removeSlice(...given)
      assert.ok(rows <= SLICE_ROWS, `${rule.what}: ${rows} rows in one transaction`)
      seen.push(rule.what)
      return rows
    },
  }))
  const scans = await findScans(app, (scanned) => removeAged({ db: scanned, clock }, rules))

  assert.deepEqual(scans, [])
  assert.equal(seen.filter((what) => what === 'events').length, 2, 'one slice, and the rest')
  assert.deepEqual(await idsOf(db, 'inbox', 'event_id'), ['new'])
  assert.deepEqual(await idsOf(db, 'jobs', 'id', sql`kind = 'test.gone'`), [
    'dead new',
    'of tomorrow',
    'runs just now',
  ])
  assert.deepEqual(await idsOf(db, 'contact_messages', 'id'), ['new'])
  assert.deepEqual(await idsOf(db, 'usage_records', 'id'), ['new'])
  assert.deepEqual(await idsOf(db, 'usage_days', 'model'), ['new'])
  const archived = await db
    .selectFrom('usage_archive')
    .select(['model', 'requests', 'cost_nanos'])
    .execute()
  assert.deepEqual(
    archived,
    [{ model: 'old', requests: 600, cost_nanos: 1_200 }],
    'sums of the months stay',
  )
})

test("a deleted account's calls go in slices, after the account", async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { db, clock } = app.platform
  for (let slice = 0; slice < 7; slice++) {
    const of = { user_id: ada.userId }
    const many = Array.from({ length: 100 }, (_, index) => `${slice}-${index}`)
    await db
      .insertInto('usage_records')
      .values(many.map((id) => ({ ...callRow(id, clock.now()), ...of })))
      .execute()
    await db
      .insertInto('usage_days')
      .values(many.map((model) => ({ ...dayRow('', model, clock.now()), ...of })))
      .execute()
  }
  const count = async (table: 'usage_records' | 'usage_days') =>
    (await db.selectFrom(table).select('user_id').where('user_id', '=', ada.userId).execute())
      .length

  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  assert.equal((await ada.get('/api/users/me')).status, 401)
  assert.deepEqual(
    [await count('usage_records'), await count('usage_days')],
    [700, 700],
    'not in its transaction',
  )

  await app.settle()
  assert.deepEqual([await count('usage_records'), await count('usage_days')], [0, 0])
  const { requests } = await db
    .selectFrom('usage_archive')
    .select((e) => e.fn.sum<number>('requests').as('requests'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(requests), 700, 'the sums of the months stay, without the person')
})

/** Of each table rows from before its limit and rows from after it. */
async function fill({ platform: { db, clock } }: TestApp): Promise<void> {
  const ago = (days: number) => plus(clock.now(), -days * DAY_MS)
  const event = (event_id: string, days: number) => ({
    source: 'test',
    event_id,
    payload_json: {},
    received_at: ago(days),
    handled_at: ago(days),
  })
  for (let slice = 0; slice < 6; slice++) {
    const rows = Array.from({ length: 100 }, (_, index) => event(`old-${slice}-${index}`, 31))
    await db.insertInto('inbox').values(rows).execute()
  }
  await db.insertInto('inbox').values(event('new', 29)).execute()

  const job = (
    id: string,
    status: 'queued' | 'dead',
    days: number,
    leasedMs: number | null = null,
  ) => ({
    id,
    kind: 'test.gone',
    payload_json: {},
    dedupe_key: null,
    status,
    attempts: 0,
    last_error: null,
    run_at: ago(days),
    created_at: ago(days),
    lease_token: null,
    leased_until: leasedMs === null ? null : plus(clock.now(), leasedMs),
  })
  await db
    .insertInto('jobs')
    .values([
      job('dead old', 'dead', 31),
      job('dead new', 'dead', 29),
      job('nobody runs it', 'queued', 31),
      job('runs just now', 'queued', 31, 10_000),
      job('of tomorrow', 'queued', -1),
    ])
    .execute()

  const message = (id: string, days: number) => ({
    id,
    name: 'Ada',
    email: 'a@example.com',
    email_key: 'a@example.com',
    subject: 'sales' as const,
    message: 'Hi',
    created_at: ago(days),
    notified_at: null,
  })
  await db
    .insertInto('contact_messages')
    .values([message('old', 51), message('new', 49)])
    .execute()

  await db
    .insertInto('usage_records')
    .values([callRow('old', ago(101)), callRow('new', ago(99))])
    .execute()
  for (let slice = 0; slice < 6; slice++) {
    const rows = Array.from({ length: 100 }, (_, index) =>
      dayRow(`u-${slice}-${index}`, 'old', ago(102)),
    )
    await db.insertInto('usage_days').values(rows).execute()
  }
  await db
    .insertInto('usage_days')
    .values(dayRow('u', 'new', ago(99)))
    .execute()
}

const callRow = (id: string, at: string) => ({
  user_id: 'u',
  id,
  key_id: 'session',
  tier: 'pro',
  route: 'chat',
  vendor: 'v',
  model: 'm',
  prompt_tokens: 1,
  completion_tokens: 1,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_nanos: 1,
  latency_ms: 1,
  first_token_ms: null,
  attempts: 1,
  tried: '',
  outcome: 'ok' as const,
  status: 200,
  error_code: null,
  request_id: null,
  vendor_request_id: null,
  end_user: '',
  labels: '',
  is_estimated: false,
  created_at: at,
})

const dayRow = (user_id: string, model: string, at: string) => ({
  user_id,
  day: at.slice(0, 10),
  key_id: 'session',
  model,
  vendor: 'v',
  tier: 'pro',
  outcome: 'ok' as const,
  end_user: '',
  requests: 1,
  prompt_tokens: 3,
  completion_tokens: 4,
  cached_tokens: 0,
  cost_nanos: 2,
})

async function idsOf(db: Db, table: string, column: string, where = sql`1 = 1`): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)} as id from ${sql.table(table)} where ${where} order by 1`.execute(db)
  return rows.map(({ id }) => id)
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await (findDialect(db) === 'sqlite'
    ? sql<{
        name: string
      }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by 1`
    : sql<{ name: string }>`
        select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_name <> 'rag_halfvecs' order by 1`
  ).execute(db)
  return rows.map(({ name }) => name)
}

function of(reason: string, tables: string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, reason]))
}
