import assert from 'node:assert/strict'
import { createHash, createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Uint8ArrayReader, ZipReader } from '@zip.js/zip.js'
import { openShop, type Shop } from '#testing/buyer.ts'

const DAY_MS = 86_400_000

test('a token fetches the plain archive, of the latest release or a version, in any range', async (t) => {
  const { shop, ada, token } = await openWithToken(t)
  const whole = await fetchArchive(shop, token, 'pro/latest.zip')
  assert.equal(whole.status, 200, whole.bytes.toString())
  assert.equal(whole.headers.get('x-product-version'), '1.1.0')
  assert.equal(
    whole.headers.get('content-disposition'),
    'attachment; filename="latchkey-pro-1.1.0.zip"',
  )
  assert.equal(whole.headers.get('x-license-key'), null)
  const entries = await new ZipReader(new Uint8ArrayReader(whole.bytes)).getEntries()
  assert.ok(entries.some(({ filename }) => filename === 'latchkey-pro-1.1.0/README.md'))
  assert.ok(entries.every(({ encrypted }) => !encrypted))

  const old = await fetchArchive(shop, token, 'pro/1.0.0.zip')
  assert.equal(old.headers.get('x-product-version'), '1.0.0')
  const etag = whole.headers.get('etag') ?? ''
  const part = await fetchArchive(shop, token, 'pro/1.1.0.zip', {
    range: 'bytes=100-199',
    'if-range': etag,
  })
  assert.deepEqual([part.status, part.bytes], [206, whole.bytes.subarray(100, 200)])
  const changed = await fetchArchive(shop, token, 'pro/1.1.0.zip', {
    range: 'bytes=100-199',
    'if-range': '"other"',
  })
  assert.deepEqual([changed.status, changed.bytes], [200, whole.bytes])
  const known = await fetchArchive(shop, token, 'pro/latest.zip', {
    'if-none-match': `"x", W/${etag}`,
  })
  assert.deepEqual([known.status, known.bytes.length], [304, 0])
  for (const range of ['bytes=0-0,5-6', 'bytes=99999999-', 'bytes=-0'])
    assert.equal((await fetchArchive(shop, token, 'pro/latest.zip', { range })).status, 416, range)

  // The buyer's five downloads are untouched.
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 0)
  assert.equal((await ada.download()).status, 200)
})

test('a token opens its own product only, and what its license covers', async (t) => {
  const root = productsFolder(t)
  const { shop, token } = await openWithToken(t, { PRODUCTS_DIR: root })
  for (const path of [
    'basic/latest.zip',
    'nothing/latest.zip',
    'pro/9.9.9.zip',
    'pro/latest',
    'pro/latest.tar.gz',
    'pro/..%2f..%2fbasic%2f1.0.0.zip',
    'pro/%00.zip',
  ]) {
    const reply = await fetchArchive(shop, token, path)
    assert.deepEqual([reply.status, reply.code], [404, 'release_not_found'], path)
  }
  release(root, '2.0.0', shop.clock.ms() + 400 * DAY_MS)
  shop.clock.advance(401 * DAY_MS)
  const fresh = await newToken(shop, 'ada')
  const late = await fetchArchive(shop, fresh, 'pro/2.0.0.zip')
  assert.deepEqual([late.status, late.code], [404, 'release_not_found'], 'after the updates ended')
  const latest = await fetchArchive(shop, fresh, 'pro/latest.zip')
  assert.equal(latest.headers.get('x-product-version'), '1.0.0')
})

test('wrong, expired, deleted and foreign tokens are refused alike', async (t) => {
  const { shop, ada, id, token } = await openWithToken(t)
  const expected = [401, 'download_credential_invalid']
  const body = token.slice(4)
  for (const bearer of [
    undefined,
    '',
    'lkd_',
    `lkd_${'A'.repeat(64)}`,
    `lkd_${body.slice(0, -1)}${body.endsWith('A') ? 'B' : 'A'}`,
    body,
    `lkd_${body}${body}`,
    'LK-0000-0000-0000-0000-0000-0000-0000',
    'x'.repeat(3000),
  ]) {
    const reply = await fetchArchive(shop, bearer, 'pro/latest.zip')
    assert.deepEqual([reply.status, reply.code], expected, String(bearer))
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
  }

  const eve = await shop.buyer('eve')
  await shop.sell(eve, 'pro')
  const [hers] = (await ada.get(`/api/purchases/${id}/tokens`)).body
  assert.equal(hers.name, 'CI')
  assert.equal(JSON.stringify(hers).includes('lkd_'), false)
  const foreign = await eve.request('DELETE', `/api/purchases/${id}/tokens/${hers.id}`)
  assert.deepEqual([foreign.status, foreign.body.code], [404, 'purchase_not_found'])
  const [own] = (await eve.get('/api/purchases')).body
  const mixed = await eve.request('DELETE', `/api/purchases/${own.id}/tokens/${hers.id}`)
  assert.deepEqual([mixed.status, mixed.body.code], [404, 'download_token_not_found'])
  assert.equal((await fetchArchive(shop, token, 'pro/latest.zip')).status, 200)

  assert.equal((await ada.request('DELETE', `/api/purchases/${id}/tokens/${hers.id}`)).status, 200)
  const deleted = await fetchArchive(shop, token, 'pro/latest.zip')
  assert.deepEqual([deleted.status, deleted.code], expected)
  const short = await newToken(shop, 'ada', { expires_in_days: 1 })
  shop.clock.advance(DAY_MS + 1000)
  const expired = await fetchArchive(shop, short, 'pro/latest.zip')
  assert.deepEqual([expired.status, expired.code], expected)
})

test('a refund ends tokens, the archive and the update feed', async (t) => {
  const { shop, ada, id, token, key, payment } = await openWithToken(t)
  assert.equal((await update(shop, token)).status, 200)
  const refund = { payment_intent: payment, amount: 29_900, amount_refunded: 29_900 }
  await shop.event('charge.refunded', { ...refund, refunded: true })

  for (const reply of [
    await fetchArchive(shop, token, 'pro/latest.zip'),
    await update(shop, token),
  ]) {
    assert.deepEqual([reply.status, reply.code], [401, 'download_credential_invalid'])
  }
  for (const reply of [await fetchArchive(shop, key, 'pro/latest.zip'), await update(shop, key)])
    assert.deepEqual([reply.status, reply.code], [403, 'license_revoked'])
  assert.deepEqual((await ada.get(`/api/purchases/${id}/tokens`)).body, [])
  const again = await ada.request('POST', `/api/purchases/${id}/tokens`, { body: { name: 'x' } })
  assert.deepEqual([again.status, again.body.code], [403, 'license_revoked'])
})

test('tokens are limited, named in one line, and last at most two years', async (t) => {
  const { ada, id } = await openWithToken(t)
  const create = (body: object) => ada.request('POST', `/api/purchases/${id}/tokens`, { body })
  for (const body of [
    {},
    { name: '' },
    { name: ' ' },
    { name: 'a\nb' },
    { name: 'x'.repeat(101) },
    { name: 'x', expires_in_days: 0 },
    { name: 'x', expires_in_days: 731 },
  ])
    assert.ok([400, 422].includes((await create(body)).status), JSON.stringify(body))
  const replies = await Promise.all(Array.from({ length: 12 }, () => create({ name: 'more' })))
  assert.equal(replies.filter(({ status }) => status === 201).length, 9, 'ten with the first')
  assert.equal(replies.find(({ status }) => status !== 201)?.body.code, 'token_limit_reached')
})

test('ranges give no way around the daily count', async (t) => {
  const { shop, ada, token, key } = await openWithToken(t)
  const { db } = shop.app.platform
  const size = (await fetchArchive(shop, token, 'pro/latest.zip')).bytes.length
  const spend = (sent_bytes: number, requests: number) =>
    db.updateTable('download_days').set({ sent_bytes, requests }).execute()

  await spend(50 * size - 100, 10)
  const small = await fetchArchive(shop, token, 'pro/latest.zip', { range: 'bytes=0-99' })
  assert.equal(small.status, 206)
  const refused = await fetchArchive(shop, token, 'pro/latest.zip', { range: 'bytes=5-5' })
  assert.deepEqual([refused.status, refused.code], [429, 'daily_limit_reached'])
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds > 0 && seconds <= 86_400, `${seconds} s`)
  // The key has its own day, and so has tomorrow.
  assert.equal((await fetchArchive(shop, key, 'pro/latest.zip')).status, 200)
  await spend(0, 1_000)
  assert.equal((await fetchArchive(shop, token, 'pro/latest.zip')).status, 429)

  await spend(49 * size, 5)
  const simultaneous = await Promise.all(
    Array.from({ length: 8 }, () => fetchArchive(shop, token, 'pro/latest.zip')),
  )
  assert.equal(simultaneous.filter(({ status }) => status === 200).length, 1)
  shop.clock.advance(DAY_MS)
  assert.equal((await fetchArchive(shop, token, 'pro/latest.zip')).status, 200)
  // One row for each version and day; the buyer's history shows their machines.
  const history = (await ada.get('/api/download/history')).body
  assert.deepEqual(
    history.map(({ version }: { version: string }) => version),
    ['1.1.0', '1.1.0', '1.1.0'],
  )
})

test('the bytes that a broken line lost are not counted', async (t) => {
  const root = productsFolder(t)
  const size = 8 * 1024 * 1024
  writeFileSync(join(root, 'pro/1.0.0/noise.bin'), randomBytes(size))
  const { shop, token } = await openWithToken(t, { PRODUCTS_DIR: root })
  const { db } = shop.app.platform
  const readCount = () =>
    db.selectFrom('download_days').select(['requests', 'sent_bytes']).executeTakeFirst()
  const response = await fetch(`${shop.storefrontUrl}/download/pro/latest.zip`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  let count = await readCount()
  for (let look = 0; look < 200 && (count?.sent_bytes ?? size) >= size; look++) {
    await sleep(50)
    count = await readCount()
  }
  assert.equal(count?.requests, 1)
  assert.ok((count?.sent_bytes ?? size) < size, `${count?.sent_bytes} bytes`)
})

test('a plain download does not take the place of an encrypted one that broke off', async (t) => {
  const { shop, ada, token } = await openWithToken(t)
  const whole = await ada.download()
  shop.clock.advance(1_000)
  assert.equal((await fetchArchive(shop, token, 'pro/latest.zip')).status, 200)
  const rest = await ada.download('/api/download', { range: 'bytes=500-' })
  assert.deepEqual([rest.status, rest.bytes], [206, whole.bytes.subarray(500)])
})

test('the update feed offers the newest covered release of the channel, signed', async (t) => {
  const root = productsFolder(t)
  const { shop, token, key } = await openWithToken(t, { PRODUCTS_DIR: root })
  assert.equal((await update(shop, key, 'version=1.0.0')).status, 204)
  const hour = shop.clock.ms() + 3_600_000
  release(root, '1.10.0', hour)
  release(root, '1.9.0', hour + 1000)
  release(root, '2.0.0-beta.1', hour + 2000)
  shop.clock.advance(2 * 3_600_000)

  for (const bearer of [key, token]) {
    const { status, body } = await update(shop, bearer, 'version=1.0.0&platform=linux-x64')
    assert.deepEqual([status, body.version, body.notes], [200, '1.10.0', 'Notes of 1.10.0'])
    assert.equal(body.url, `${shop.config.urls.storefront}/download/pro/1.10.0.zip`)
    const archive = await fetchArchive(shop, bearer, 'pro/1.10.0.zip')
    assert.equal(createHash('sha256').update(archive.bytes).digest('hex'), body.sha256)
    assert.equal(archive.bytes.length, body.size_bytes)
    assert.ok(await isSigned(shop, 'pro', body))
    assert.equal(await isSigned(shop, 'basic', body), false)
    assert.equal(await isSigned(shop, 'pro', { ...body, version: '1.0.0' }), false)
  }
  assert.equal((await update(shop, key, 'version=1.0.0&channel=beta')).body.version, '2.0.0-beta.1')
  assert.equal((await update(shop, key, 'version=1.10.0')).status, 204)
  assert.equal((await update(shop, key, 'version=3')).status, 204)
  assert.equal((await update(shop, key, '')).body.version, '1.10.0')
  assert.equal((await update(shop, undefined, '')).status, 401)
  assert.equal((await update(shop, key, '', 'basic')).status, 404)
  assert.equal((await update(shop, key, 'channel=nightly')).status, 422)

  release(root, '3.0.0', shop.clock.ms() + 400 * DAY_MS)
  shop.clock.advance(401 * DAY_MS)
  assert.equal((await update(shop, key, 'version=1.10.0')).status, 204, 'after the updates ended')
})

test('guessing tokens is limited by address', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_GENERAL: '10/86400' })
  const statuses: number[] = []
  for (let guess = 0; guess < 12; guess++)
    statuses.push((await fetchArchive(shop, `lkd_${randomUUID()}`, 'pro/latest.zip')).status)
  assert.deepEqual(new Set(statuses.slice(0, 10)), new Set([401]))
  assert.deepEqual(statuses.slice(10), [429, 429])
})

async function openWithToken(t: TestContext, env: Record<string, string> = {}) {
  const shop = await openShop(t, env)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const [{ id }] = (await ada.get('/api/purchases')).body
  const [email] = await shop.mail(ada.email)
  const key = /LK(-\w{4}){7}/.exec(email?.text ?? '')?.[0] ?? ''
  return { shop, ada, id: id as string, key, payment, token: await newToken(shop, 'ada') }
}

/** Signs in again, because a moved clock may have ended the session. */
async function newToken(shop: Shop, name: string, more = {}): Promise<string> {
  const buyer = await shop.buyer(name)
  const [{ id }] = (await buyer.get('/api/purchases')).body
  const body = { name: 'CI', ...more }
  const reply = await buyer.request('POST', `/api/purchases/${id}/tokens`, { body })
  assert.equal(reply.status, 201, reply.text)
  assert.match(reply.body.token, /^lkd_[\w-]{64}$/)
  return reply.body.token
}

async function fetchArchive(
  shop: Shop,
  bearer: string | undefined,
  path: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${shop.storefrontUrl}/download/${path}`, {
    headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.includes('json')
  const code = isJson ? JSON.parse(bytes.toString()).code : null
  return { status: response.status, headers: response.headers, bytes, code }
}

async function update(shop: Shop, bearer: string | undefined, query = '', slug = 'pro') {
  const reply = await shop.store('GET', `/api/updates/${slug}?${query}`, {
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
  })
  return { status: reply.status, body: reply.body, code: reply.body?.code }
}

async function isSigned(
  shop: Shop,
  slug: string,
  { version, sha256, key_id, signature }: Record<string, string>,
): Promise<boolean> {
  const { keys } = (await shop.store('GET', '/.well-known/license-keys.json')).body
  const { x } = keys.find(({ kid }: { kid: string }) => kid === key_id)
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const text = Buffer.from(`update\n${slug}\n${version}\n${sha256}`)
  return verify(null, text, key, Buffer.from(signature ?? '', 'base64url'))
}

function productsFolder(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const tier of ['basic', 'pro']) {
    mkdirSync(join(root, tier, '1.0.0'), { recursive: true })
    writeFileSync(join(root, tier, '1.0.0/a.txt'), `${tier} a`)
    writeFileSync(join(root, tier, 'releases.json'), JSON.stringify([noteOf('1.0.0', 0)]))
  }
  return root
}

const noteOf = (version: string, atMs: number) => ({
  version,
  published_at: new Date(atMs).toISOString(),
  notes: `Notes of ${version}`,
})

const published = new Map<string, object[]>()

/** Adds a release of pro, published at that time. */
function release(root: string, version: string, atMs: number): void {
  const listed = published.get(root) ?? [noteOf('1.0.0', 0)]
  published.set(root, [...listed, noteOf(version, atMs)])
  cpSync(join(root, 'pro/1.0.0'), join(root, 'pro', version), { recursive: true })
  writeFileSync(join(root, 'pro', version, 'b.txt'), version)
  writeFileSync(join(root, 'pro/releases.json'), JSON.stringify(published.get(root)))
}
