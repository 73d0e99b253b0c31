// Personal data in every room: the full export contains all of it, and none outlives the account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { beginAnswer } from '#conversations/messages.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createCredential } from '#testing/authenticator.ts'
import { throughProvider } from '#testing/provider.ts'
import { createShop } from '#testing/shop.ts'
import { createTwin } from '#testing/twin.ts'

const NAME = 'Adelheid Lovelace'
const PHRASE = 'The lighthouse of Westkapelle was lit by forty-one lamps.'
const MESSAGE = 'My invoice names a street that I left in May.'

test('the full export holds what every room holds of a person, and nothing of another', async (t) => {
  const app = await testApp(t)
  const ada = await liveAWhile(app, 'ada')
  await liveAWhile(app, 'eve')

  const files = await exportOf(app, ada)
  const whole = JSON.stringify([...files])
  const { licenseKeys, apiKey } = ada.secrets
  for (const [what, text] of Object.entries({
    'the name': NAME,
    'the address': ada.email,
    'the linked address': 'ada-google@example.com',
    'the passkey': 'Laptop of ada',
    'the text of a document': PHRASE,
    'the metadata of a document': 'notes of ada',
    'the collection': 'collection of ada',
    "the key's name": 'key of ada',
    'the message to support': `${MESSAGE} ada`,
    'the program of a session': 'Phone of ada',
    'the customer at the processor': ada.customerId,
    'the download': 'Downloader of ada',
    'the machine': 'Workstation of ada',
    'the download token': 'Pipeline of ada',
    'the uploaded file': 'handbook of ada.md',
    'the withdrawal': 'withdrawal of ada',
    'rows that are rare': 'rare row of ada',
    'the switch': 'subject ada',
    'the title of a conversation': 'Lamps of ada',
    'the text of a message': 'Question of ada',
  })) {
    assert.ok(whole.includes(text), `${what} is missing`)
  }
  assert.ok(list(files, 'purchases').length > 0)
  const calls = list(files, 'usage') as { parameters: object | null }[]
  const { parameters } = calls.find((call) => call.parameters !== null) ?? {}
  assert.partialDeepStrictEqual(parameters, { messages: 1, stream: false })
  assert.ok(list(files, 'emails').length > 3)
  assert.ok(list(files, 'subscription_changes').length > 0)
  assert.ok(list(files, 'security_events').length > 3)
  for (const other of [
    'eve@example.com',
    'eve-google',
    'notes of eve',
    'key of eve',
    'Phone of eve',
    'of eve',
  ]) {
    assert.equal(whole.includes(other), false, other)
  }
  for (const secret of [...licenseKeys, apiKey, 'argon2id'])
    assert.equal(whole.includes(secret), false, 'no secret')
})

test('both people of these tests have a row in every table that belongs to users', async (t) => {
  const app = await testApp(t)
  const people = [await liveAWhile(app, 'ada'), await liveAWhile(app, 'eve')]
  const rows = await everyRow(app)
  const missing = (await listTablesOfUsers(app)).flatMap((table) =>
    people
      .filter(
        ({ userId }) => !rows.some((held) => held.table === table && held.row.user_id === userId),
      )
      .map(({ email }) => `${table}: ${email}`),
  )
  assert.deepEqual(missing, [
    // With pgvector, rag_halfvecs holds the vectors instead.
    ...(hasPgvector(app) ? people.map(({ email }) => `rag_vectors: ${email}`) : []),
    // Rows of calls in progress: another process takes them over, so a made-up one would not stay.
    ...people.map(({ email }) => `usage_open_calls: ${email}`),
    ...people.map(({ email }) => `usage_reservations: ${email}`),
  ])
})

test('messages sent under an address go into an export only when the address is proven', async (t) => {
  const app = await testApp(t)
  await contact(app, 'victim@example.com', 'victim')
  const eve = await app.as('victim')
  const files = await exportOf(app, eve)
  assert.equal(JSON.stringify([...files]).includes(MESSAGE), false)
})

test('deletion leaves no trace of a person in any table, but what the books and the log may keep', async (t) => {
  const app = await testApp(t)
  const ada = await liveAWhile(app, 'ada')
  const eve = await liveAWhile(app, 'eve')
  const change = { new_email: 'ada-new@example.com', password: PASSWORD, code: ada.code() }
  assert.equal((await ada.post('/api/users/me/change-email', change)).status, 200)
  await app.post('/api/auth/forgot-password', { email: 'ada-new@example.com' })
  const before = await everyRow(app)
  const tablesOfUser = before.filter(({ row }) => 'user_id' in row).map(({ table }) => table)
  assert.ok(new Set(tablesOfUser).size >= 15, 'the walk has left rows in many tables')

  // Signed in again, since the change of address has kept this session only.
  assert.equal(
    (await ada.delete('/api/users/me', { password: PASSWORD, code: ada.code() })).status,
    200,
  )
  await app.settle()
  await untilHandled(app)

  const after = await everyRow(app)
  for (const { table, row, text } of after) {
    assert.notEqual(row.user_id, ada.userId, `a row of ${table}`)
    for (const trace of [
      ada.userId,
      NAME.concat(' ada'),
      'ada@',
      'ada-new@',
      'ada-google@',
      PHRASE.concat(' ada'),
      `${MESSAGE} ada`,
      'of ada',
    ]) {
      assert.equal(text.includes(trace), false, `${trace} in ${table}: ${text}`)
    }
  }
  const purchases = after.filter(({ table }) => table === 'purchases')
  assert.deepEqual(purchases.map(({ row }) => row.user_id).sort(), [eve.userId, null].sort())

  // The other person has lost nothing.
  const ofEve = (rows: Held[]) =>
    rows
      .filter(({ row }) => row.user_id === eve.userId)
      .map(({ table }) => table)
      .sort()
  assert.deepEqual(ofEve(after), ofEve(before))
})

test('the export and the deletion of a user leave out the rows of another with the same ids', async (t) => {
  const app = await testApp(t)
  const ada = await liveAWhile(app, 'ada')
  const readExport = async () => {
    const files = await exportOf(app, ada)
    const { exported_at: _, ...account } = files.get('account.json') as Record<string, unknown>
    return files.set('account.json', account)
  }
  const alone = await readExport()

  const readTwin = await createTwin(app, ada.userId)
  const before = await readTwin()
  assert.ok(Object.values(before).filter((rows) => rows.length > 0).length >= 30)
  assert.deepEqual(await readExport(), alone)

  const deleted = await ada.delete('/api/users/me', { password: PASSWORD, code: ada.code() })
  assert.equal(deleted.status, 200, deleted.text)
  await app.settle()
  await untilHandled(app)
  assert.deepEqual(await readTwin(), before)
})

type Person = Client & {
  customerId: string
  /** The next code of the second factor: each works once. */
  code(): string
  secrets: { licenseKeys: string[]; apiKey: string }
}

/** Uses everything once that leaves something behind. */
async function liveAWhile(app: TestApp, name: string): Promise<Person> {
  const shop = createShop(app)
  const email = `${name}@example.com`
  const first = await app.as(name)
  await app.post('/api/auth/verify-email', {
    token: tokenIn((await app.mail(email)).at(-1)?.text ?? ''),
  })
  await first.patch('/api/users/me', {
    full_name: `${NAME} ${name}`,
    avatar_url: `https://example.com/${name}.png`,
  })
  await throughProvider(app, 'google', { email: `${name}-google@example.com` }, first)
  const { options } = (await first.post('/api/auth/passkeys/register/options')).body
  const { hostname, origin } = new URL(app.config.urls.frontend)
  const { response } = createCredential(options, { origin, rpId: hostname })
  await first.post('/api/auth/passkeys/register/verify', { response, name: `Laptop of ${name}` })

  await shop.subscribe(first)
  await app.settle()
  const { processor_customer_id: customerId } = await shop.subscription(first)
  const key = await first.post('/api/api-keys', { name: `key of ${name}` })
  assert.equal(key.status, 201, key.text)
  const withKey = createClient(app.url, key.body.key, first)
  const content = `${PHRASE} ${name}. ${'It says nothing else. '.repeat(40)}`
  const collection = await withKey.post('/api/rag/collections', { name: `collection of ${name}` })
  const ingested = await withKey.post('/api/rag/ingest/text', {
    content,
    collections: [collection.body.id],
    metadata: { source: `notes of ${name}` },
  })
  assert.equal(ingested.status, 200, ingested.text)
  const file = new FormData()
  file.set('file', new File([`# Handbook\n\n${PHRASE} ${name}`], `handbook of ${name}.md`))
  file.set('external_id', `handbook ${name}`)
  const uploaded = await withKey.post('/api/rag/ingest/file', file, {
    headers: { prefer: 'respond-async' },
  })
  assert.equal(uploaded.status, 202, uploaded.text)
  const cached = { headers: { 'x-latchkey-cache': '3600' } }
  assert.equal(
    (await first.post('/api/ai/completions', { prompt: `A word of ${name}` }, cached)).status,
    200,
  )
  await contact(app, email, name)

  const session = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const hosted = await app.store('GET', '/api/checkout?tier=basic', { headers: { cookie } })
  await shop.pay(hosted.headers.get('location') ?? '')
  await app.settle()
  const download = await app.store('GET', '/api/download', {
    headers: { cookie, 'user-agent': `Downloader of ${name}` },
  })
  assert.equal(download.status, 200, download.text.slice(0, 200))
  const license_key = download.headers.get('x-license-key')
  const machine = { license_key, fingerprint: `machine of ${name}`, name: `Workstation of ${name}` }
  const activated = await app.store('POST', '/api/license/activate', { body: machine })
  assert.equal(activated.status, 201, activated.text)
  const [{ id }] = (await app.store('GET', '/api/purchases', { headers: { cookie } })).body
  const made = await app.store('POST', `/api/purchases/${id}/tokens`, {
    headers: { cookie },
    body: { name: `Pipeline of ${name}` },
  })
  assert.equal(made.status, 201, made.text)
  const { status } = await fetch(`${app.storefrontUrl}/download/basic/latest.zip`, {
    headers: { authorization: `Bearer ${made.body.token}`, 'user-agent': `Downloader of ${name}` },
  })
  assert.equal(status, 200)

  const { secret } = (await first.post('/api/users/me/totp')).body
  const code = () => {
    app.clock.advance(60_000)
    return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
  }
  assert.equal((await first.post('/api/users/me/totp/confirm', { code: code() })).status, 200)
  const phone = await app.post(
    '/api/auth/login',
    { email, password: PASSWORD, code: code() },
    { headers: { 'user-agent': `Phone of ${name}` } },
  )
  assert.equal(phone.status, 200, phone.text)
  const client = createClient(app.url, phone.body.access_token, first)
  await keepConversation(app, client, name)
  await addRareRows(app, first.userId, name)
  await client.post('/api/users/me/oauth/github')
  return {
    ...client,
    customerId: customerId ?? '',
    code,
    secrets: { licenseKeys: [download.headers.get('x-license-key') ?? '?'], apiKey: key.body.key },
  }
}

async function keepConversation(app: TestApp, client: Client, name: string) {
  const { body } = await client.post('/api/conversations', { title: `Lamps of ${name}` })
  const { questionId } = await beginAnswer(app.platform, client.userId, body.id, {
    parentId: null,
    parts: [{ type: 'text', text: `Question of ${name}` }],
    replaces: null,
    model: null,
  })
  const shares = `/api/conversations/${body.id}/shares`
  const shared = await client.post(shares, { leaf_id: questionId, with_sources: true })
  assert.equal(shared.status, 201, shared.text)
}

/**
 * Inserts rows that only months of use or a call in progress leave behind. Their values name the
 * person.
 */
async function addRareRows(app: TestApp, userId: string, name: string) {
  const { platform, clock } = app
  const { db } = platform
  const mark = `rare row of ${name}`
  const now = new Date(clock.ms()).toISOString()
  await db
    .insertInto('billing_notices')
    .values({ user_id: userId, about: mark, sent_at: now })
    .execute()
  const cancellation = {
    subscription_id: `sub_${name}`,
    user_id: userId,
    tier: 'pro',
    feedback: null,
    comment: mark,
  }
  await db
    .insertInto('cancellations')
    .values({ ...cancellation, canceled_at: now, ended_at: null })
    .execute()
  const change = { owner: userId, day: now.slice(0, 10), currency: 'usd', tier: 'pro' }
  const states = { before_state: 'none' as const, after_state: 'paid' as const }
  await db
    .insertInto('subscription_changes')
    .values({ ...change, ...states, before_cents: 0, after_cents: 2_900 })
    .onConflict((conflict) => conflict.columns(['owner', 'day', 'currency']).doNothing())
    .execute()
  const deal = {
    price_id: `price_${name}`,
    user_id: userId,
    tier: 'pro',
    interval: 'month' as const,
    amount_cents: 1_900,
  }
  await db
    .insertInto('deals')
    .values({ ...deal, currency: 'usd', created_at: now })
    .execute()
  const off = {
    kind: 'key' as const,
    subject: `subject ${name}`,
    user_id: userId,
    reason: mark,
    set_at: now,
  }
  await db.insertInto('switches').values(off).execute()
  const period = { period: '2026-11', renews_at: now }
  const alert = {
    user_id: userId,
    ...period,
    percent: 80,
    limit_nanos: 10,
    used_nanos: 8,
    created_at: now,
  }
  await db.insertInto('usage_alerts').values(alert).execute()
  const notice = { user_id: userId, tier: 'basic', version: mark, sent_at: now }
  await db.insertInto('release_notices').values(notice).execute()
  await db.insertInto('release_optouts').values({ user_id: userId, created_at: now }).execute()
  const input = { user_id: userId, job_id: mark, part: 0, bytes: Buffer.from(mark) }
  await db.insertInto('rag_job_inputs').values(input).execute()
  const vector = { user_id: userId, version: mark, embedder: 'other', chunk_index: 0 }
  if (hasPgvector(app))
    await sql`insert into rag_halfvecs (user_id, version, embedder, chunk_index, vector)
      values (${userId}, ${mark}, 'other', 0, '[0.5]')`.execute(db)
  else
    await db
      .insertInto('rag_vectors')
      .values({ ...vector, vector: Buffer.alloc(4) })
      .execute()
}

const hasPgvector = ({ service }: TestApp) => service.rag.deps.vectors.name === 'pgvector'

async function contact(app: TestApp, email: string, name: string) {
  const body = { name: `${NAME} ${name}`, email, subject: 'support', message: `${MESSAGE} ${name}` }
  assert.equal((await app.store('POST', '/api/contact', { body })).status, 200)
  const withdrawal = { order: 'unknown', email, reason: `withdrawal of ${name}` }
  assert.equal((await app.store('POST', '/api/withdrawals', { body: withdrawal })).status, 201)
}

async function exportOf(app: TestApp, person: Client): Promise<Map<string, unknown>> {
  const response = await fetch(`${app.url}/api/users/me/export?full=true`, {
    headers: { authorization: `Bearer ${person.token}` },
  })
  assert.equal(response.status, 200)
  const files = new Map<string, unknown>()
  for (const entry of await new ZipReader(new BlobReader(await response.blob())).getEntries()) {
    if (entry.directory) continue
    const text = await entry.getData(new TextWriter())
    files.set(entry.filename, entry.filename.endsWith('.json') ? JSON.parse(text) : text)
  }
  return files
}

const list = (files: Map<string, unknown>, name: string) => files.get(`${name}.json`) as unknown[]

/** The processor's event about the cancellation arrives later. */
async function untilHandled(app: TestApp) {
  for (let look = 0; look < 200; look++) {
    const open = await app.platform.db
      .selectFrom('inbox')
      .select('event_id')
      .where('handled_at', 'is', null)
      .execute()
    if (open.length === 0) return
    await wait(50)
    await app.settle()
  }
  throw new Error('an event of the processor was not handled')
}

type Held = { table: string; row: Record<string, unknown>; text: string }

async function listTablesOfUsers({ platform: { db, dialect } }: TestApp): Promise<string[]> {
  const { rows } =
    dialect === 'postgres'
      ? await sql<{ name: string }>`
          select table_name as name from information_schema.columns
          where table_schema = current_schema() and column_name = 'user_id' order by 1`.execute(db)
      : await sql<{ name: string }>`
          select m.name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'user_id'
          where m.type = 'table' order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** Reads every table of the database. */
async function everyRow(app: TestApp): Promise<Held[]> {
  const { db, dialect } = app.platform
  const { rows: tables } =
    dialect === 'postgres'
      ? await sql<{ name: string }>`
          select table_name as name from information_schema.tables where table_schema = current_schema()`.execute(
          db,
        )
      : await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db)
  const held: Held[] = []
  for (const { name } of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
      db,
    )
    for (const row of rows) held.push({ table: name, row, text: textOf(row) })
  }
  return held
}

const textOf = (row: Record<string, unknown>) =>
  JSON.stringify(row, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )

function tokenIn(text: string): string {
  return /[?&]token=([\w-]+)/.exec(text)?.[1] ?? ''
}
