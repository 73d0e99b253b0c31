import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'
import { sql } from 'kysely'
import { BUCKET_KEYS, startBucket, type Trouble } from '#testing/bucket.ts'
import { type Buyer, openShop } from '#testing/buyer.ts'

const HOUR_MS = 3_600_000
const LIMIT =
  'Download limit reached. Your license has expired. Please purchase a new license to continue downloading.'

test('a buyer downloads a ZIP that opens with the license key', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')

  const reply = await ada.download()
  assert.equal(reply.status, 200)
  const key = reply.headers.get('x-license-key') ?? ''
  assert.match(key, /^LK(-[0-9A-HJKMNP-TV-Z]{4}){7}$/)
  assert.equal(reply.headers.get('content-type'), 'application/zip')
  const prefix = key.slice(3).replaceAll('-', '').slice(0, 8)
  assert.equal(
    reply.headers.get('content-disposition'),
    `attachment; filename="latchkey-pro-${prefix}.zip"`,
  )
  assert.equal(Number(reply.headers.get('content-length')), reply.bytes.length)
  assert.match(reply.headers.get('etag') ?? '', /^"[\w-]+"$/)
  assert.equal(reply.headers.get('accept-ranges'), 'bytes')

  const files = await unpack(reply.bytes, key)
  assert.ok(files['latchkey-pro-1.1.0/README.md']?.startsWith('# Starter kit'))
  assert.ok(Object.keys(files).every((name) => name.startsWith('latchkey-pro-1.1.0/')))
  await assert.rejects(unpack(reply.bytes, 'LK-0000'))
  await assert.rejects(unpack(reply.bytes, key.toLowerCase()))
})

test('a refused download names its reason in the contract’s words', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  assert.deepEqual(facts(await shop.store('GET', '/api/download')), [
    401,
    { error: 'Not authenticated', code: 'not_signed_in' },
  ])
  assert.deepEqual(facts(await ada.download()), [
    403,
    { error: 'No active purchase found', code: 'no_active_purchase' },
  ])

  const payment = await shop.sell(ada, 'pro')
  const [{ id }] = (await ada.get('/api/purchases')).body
  // Another buyer's purchase looks exactly like a missing one.
  assert.deepEqual(facts(await eve.download(`/api/download?purchase_id=${id}`)), [
    403,
    { error: 'No active purchase found', code: 'no_active_purchase' },
  ])
  assert.deepEqual(facts(await eve.download(`/api/download?purchase_id=${randomUUID()}`)), [
    403,
    { error: 'No active purchase found', code: 'no_active_purchase' },
  ])
  for (const bad of ['', 'abc', '../etc', `${id}'`, `${id}&purchase_id=${id}`]) {
    const reply = await ada.download(`/api/download?purchase_id=${bad}`)
    assert.equal(reply.status, 400, bad)
    assert.equal(typeof reply.body.error, 'string')
  }

  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  assert.deepEqual(facts(await ada.download(`/api/download?purchase_id=${id}`)), [
    403,
    { error: 'No active purchase found', code: 'no_active_purchase' },
  ])
})

test('downloads are a minute apart, and after the fifth the license is used up', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  const [{ id }] = (await ada.get('/api/purchases')).body

  for (let count = 1; count <= 5; count++) {
    assert.equal((await ada.download()).status, 200)
    const [purchase] = (await ada.get('/api/purchases')).body
    assert.equal(purchase.download_count, count)
    assert.equal(purchase.status, count === 5 ? 'expired' : 'completed')
    if (count === 5) break

    shop.clock.advance(20_000)
    const early = await ada.download()
    assert.equal(early.status, 429)
    const seconds = Number(
      /^Please wait (\d+) seconds before downloading again\.$/.exec(early.body.error)?.[1],
    )
    assert.ok(seconds >= 38 && seconds <= 40, early.body.error)
    assert.equal(early.headers.get('retry-after'), String(seconds))
    shop.clock.advance(41_000)
  }

  // The limit goes before the cooldown.
  for (const path of ['/api/download', `/api/download?purchase_id=${id}`]) {
    assert.deepEqual(facts(await ada.download(path)), [
      403,
      { error: LIMIT, code: 'download_limit_reached', expired: true },
    ])
  }
  // Used up is not owned: it can be bought again, and then the newer one is downloaded.
  assert.notEqual((await ada.get('/api/checkout?tier=basic')).headers.get('location'), '/dashboard')
  await shop.sell(ada, 'basic')
  assert.equal((await ada.download()).status, 200)
})

test('a new release gives the purchase its downloads anew', async (t) => {
  const root = productsFolder(t)
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const read = async () => (await ada.get('/api/purchases')).body[0]
  for (let count = 0; count < 5; count++) {
    assert.equal((await ada.download()).status, 200)
    shop.clock.advance(61_000)
  }
  assert.equal((await read()).status, 'expired')
  assert.equal((await ada.download()).status, 403)

  cpSync(join(root, 'pro/1.0.0'), join(root, 'pro/2.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/releases.json'), releases('1.0.0', '2.0.0'))
  shop.clock.advance(61_000)
  const renewed = await read()
  assert.deepEqual([renewed.status, renewed.download_count], ['completed', 0])
  assert.match((await ada.get('/dashboard')).text, /5 of 5 left/)
  // The tier is owned again, so it cannot be bought twice.
  const checkout = await ada.get('/api/checkout?tier=pro')
  assert.equal(checkout.headers.get('location'), '/dashboard')
  for (let count = 1; count <= 5; count++) {
    const reply = await ada.download()
    assert.equal(reply.headers.get('x-product-version'), '2.0.0', String(reply.status))
    assert.equal((await read()).download_count, count)
    shop.clock.advance(61_000)
  }
  assert.deepEqual(facts(await ada.download()), [
    403,
    { error: LIMIT, code: 'download_limit_reached', expired: true },
  ])
})

test('each release has its own five downloads', async (t) => {
  const root = productsFolder(t)
  addRelease(root, '2.0.0')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const read = async () => (await ada.get('/api/purchases')).body[0]
  const { id } = await read()
  const old = `/api/download?purchase_id=${id}&version=1.0.0`
  assert.match((await ada.get('/dashboard')).text, left(id, '1.0.0', 5))

  for (let count = 1; count <= 5; count++) {
    const reply = await ada.download(old)
    assert.equal(reply.headers.get('x-product-version'), '1.0.0', String(reply.status))
    assert.match(
      reply.headers.get('content-disposition') ?? '',
      /"latchkey-pro-1\.0\.0-\w{8}\.zip"/,
    )
    const files = await unpack(reply.bytes, reply.headers.get('x-license-key') ?? '')
    assert.equal(files['latchkey-pro-1.0.0/a.txt'], 'a'.repeat(5000))
    // The cooldown belongs to the purchase.
    assert.equal((await ada.download()).status, 429)
    shop.clock.advance(61_000)
  }
  assert.deepEqual(facts(await ada.download(old)), [
    403,
    { error: 'You have used all downloads of version 1.0.0', code: 'release_downloads_used' },
  ])
  const page = (await ada.get('/dashboard')).text
  assert.match(
    page,
    /1\.0\.0<\/strong>.*?<span data-left>0 of 5 left<\/span> <span data-older><\/span>/,
  )
  assert.match(page, /Downloads of 2\.0\.0<\/dt><dd data-left[^>]*>5 of 5 left/)
  assert.deepEqual((await read()).releases, [
    { version: '2.0.0', published_at: '2026-01-02T00:00:00.000Z', downloads_left: 5 },
    { version: '1.0.0', published_at: '2026-01-01T00:00:00.000Z', downloads_left: 0 },
  ])
  assert.deepEqual([(await read()).status, (await read()).download_count], ['completed', 0])
  const history = (await ada.get('/api/download/history')).body
  assert.deepEqual(
    history.map(({ version }: { version: string }) => version),
    Array(5).fill('1.0.0'),
  )

  // A release keeps its count when it is named, when another is newest, and when it returns.
  assert.equal((await ada.download(`/api/download?purchase_id=${id}&version=2.0.0`)).status, 200)
  shop.clock.advance(61_000)
  assert.equal((await ada.download()).headers.get('x-product-version'), '2.0.0')
  assert.equal((await read()).download_count, 2)
  addRelease(root, '3.0.0')
  shop.clock.advance(61_000)
  assert.equal((await ada.download()).headers.get('x-product-version'), '3.0.0')
  writeFileSync(join(root, 'pro/releases.json'), releases('1.0.0', '2.0.0'))
  shop.clock.advance(61_000)
  assert.equal((await ada.download()).headers.get('x-product-version'), '2.0.0')
  assert.equal((await read()).download_count, 3)
  writeFileSync(join(root, 'pro/releases.json'), releases('1.0.0', '2.0.0', '3.0.0'))
  shop.clock.advance(61_000)
  assert.deepEqual(await countsLeft(ada), { '3.0.0': 4, '2.0.0': 2, '1.0.0': 0 })
})

test('older releases stay available after the newest is used up', async (t) => {
  const root = productsFolder(t)
  addRelease(root, '2.0.0')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const [{ id }] = (await ada.get('/api/purchases')).body
  await shop.platform.db
    .updateTable('purchases')
    .set({ status: 'expired', download_count: 5, download_version: '2.0.0' })
    .execute()
  assert.match((await ada.get('/dashboard')).text, left(id, '1.0.0', 5))
  const old = `/api/download?purchase_id=${id}&version=1.0.0`
  const head = await ada.request('HEAD', old)
  assert.deepEqual([head.status, head.headers.get('x-product-version')], [200, '1.0.0'])
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.download(old)))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 429, 429, 429, 429, 429])
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual([purchase.status, purchase.download_count], ['expired', 5])
  shop.clock.advance(61_000)
  for (const path of ['/api/download', `/api/download?purchase_id=${id}&version=2.0.0`])
    assert.deepEqual(facts(await ada.download(path)), [
      403,
      { error: LIMIT, code: 'download_limit_reached', expired: true },
    ])
})

test('a resume continues the release that its address names', async (t) => {
  const root = productsFolder(t)
  addRelease(root, '2.0.0')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const newest = await ada.download()
  shop.clock.advance(61_000)
  const older = await ada.download('/api/download?version=1.0.0')
  for (const [path, whole] of [
    ['/api/download', newest],
    ['/api/download?version=1.0.0', older],
  ] as const) {
    const part = await ada.download(path, { range: 'bytes=20-' })
    assert.equal(part.status, 206)
    assert.deepEqual(part.bytes, whole.bytes.subarray(20))
  }
  assert.deepEqual(await countsLeft(ada), { '2.0.0': 4, '1.0.0': 4 })
})

test('a named version opens no release that the purchase does not cover', async (t) => {
  const root = productsFolder(t)
  for (const tier of ['basic', 'enterprise'])
    cpSync(join(root, 'pro/1.0.0'), join(root, `${tier}/7.0.0`), { recursive: true })
  addRelease(root, '2.0.0')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  const payment = await shop.sell(ada, 'pro')
  const [{ id }] = (await ada.get('/api/purchases')).body
  const ask = async (version: string, buyer = ada) => {
    const reply = await buyer.download(`/api/download?purchase_id=${id}&version=${version}`)
    return [reply.status, reply.body?.code]
  }
  const unknown = [404, 'release_not_found']
  // Of another product, outside the folder, unknown, and names of an object's members.
  for (const version of [
    '7.0.0',
    '..%2Fbasic%2F7.0.0',
    '9.9',
    '',
    'constructor',
    '__proto__',
    '1.0.0&version=2.0.0',
  ])
    assert.deepEqual(await ask(version), unknown, version)
  assert.deepEqual(await ask('1.0.0', eve), [403, 'no_active_purchase'])

  // Withdrawn.
  writeFileSync(join(root, 'pro/releases.json'), releases('2.0.0'))
  shop.clock.advance(61_000)
  assert.deepEqual(await ask('1.0.0'), unknown)
  // Published after the updates ended.
  await shop.platform.db
    .updateTable('purchases')
    .set({ entitled_until: '2025-12-31T00:00:00.000Z' })
    .execute()
  assert.deepEqual(await ask('2.0.0'), unknown)
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 0)
  assert.doesNotMatch((await ada.get('/dashboard')).text, /version=/)

  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  assert.deepEqual(await ask('2.0.0'), [403, 'no_active_purchase'])
})

test('of many downloads at once of a new release, one begins its count', async (t) => {
  const root = productsFolder(t)
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  await shop.app.platform.db
    .updateTable('purchases')
    .set({ status: 'expired', download_count: 5, download_version: '0.9.0' })
    .execute()
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.download()))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 429, 429, 429, 429, 429])
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual([purchase.status, purchase.download_count], ['completed', 1])
})

test('of many downloads at once for the last slot, one is granted', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  for (let count = 0; count < 4; count++) {
    assert.equal((await ada.download()).status, 200)
    shop.clock.advance(61_000)
  }
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.download()))
  const statuses = replies.map(({ status }) => status).sort()
  assert.equal(statuses[0], 200)
  assert.ok(statuses.slice(1).every((status) => status === 403))
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 5)
  assert.equal((await ada.get('/api/download/history')).body.length, 5)
})

test('of many downloads at once within a cooldown, one is granted', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.download()))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 429, 429, 429, 429, 429])
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 1)
})

test('a download that broke off is continued without counting, also the last one', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  for (let count = 0; count < 4; count++) {
    await ada.download()
    shop.clock.advance(61_000)
  }
  const whole = await ada.download()
  const etag = whole.headers.get('etag') ?? ''
  const size = whole.bytes.length
  assert.equal((await ada.get('/api/purchases')).body[0].status, 'expired')

  for (const [range, start, end] of [
    [`bytes=${size - 1000}-`, size - 1000, size],
    ['bytes=1000-1999', 1000, 2000],
    ['bytes=-500', size - 500, size],
  ] as const) {
    for (const headers of [{ range }, { range, 'if-range': etag }] as Record<string, string>[]) {
      const part = await ada.download('/api/download', headers)
      assert.equal(part.status, 206)
      assert.equal(part.headers.get('content-range'), `bytes ${start}-${end - 1}/${size}`)
      assert.equal(Number(part.headers.get('content-length')), end - start)
      assert.equal(part.headers.get('etag'), etag)
      assert.deepEqual(part.bytes, whole.bytes.subarray(start, end))
    }
  }
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 5)
  assert.equal((await ada.get('/api/download/history')).body.length, 5)

  shop.clock.advance(25 * HOUR_MS)
  assert.deepEqual(facts(await ada.download('/api/download', { range: 'bytes=1000-' })), [
    403,
    { error: LIMIT, code: 'download_limit_reached', expired: true },
  ])
})

test('a resume survives a restart and a newer release', async (t) => {
  const root = productsFolder(t)
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const whole = await ada.download()

  cpSync(join(root, 'pro/1.0.0'), join(root, 'pro/2.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/releases.json'), releases('1.0.0', '2.0.0'))
  rmSync(join(shop.dataDir, 'cache'), { recursive: true, force: true })
  await shop.app.restart()

  const part = await ada.download('/api/download', { range: 'bytes=20-' })
  assert.equal(part.status, 206)
  assert.deepEqual(part.bytes, whole.bytes.subarray(20))
  shop.clock.advance(61_000)
  const next = await ada.download()
  assert.equal(next.headers.get('x-product-version'), '2.0.0')
  assert.notEqual(next.headers.get('etag'), whole.headers.get('etag'))
})

test('ranges give no way around the count', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  await shop.sell(eve, 'basic')
  const count = async () => (await ada.get('/api/purchases')).body[0].download_count

  // Without a download to continue, a range begins one and counts.
  assert.equal((await ada.download('/api/download', { range: 'bytes=100-' })).status, 206)
  assert.equal(await count(), 1)
  // From the first byte on, it is no resume.
  assert.equal((await ada.download('/api/download', { range: 'bytes=0-' })).status, 429)
  // A foreign or unknown tag continues nothing.
  const foreign = (await eve.download()).headers.get('etag') ?? ''
  assert.equal(
    (await ada.download('/api/download', { range: 'bytes=100-', 'if-range': foreign })).status,
    429,
  )
  assert.equal(
    (await ada.download('/api/download', { range: 'bytes=100-', 'if-range': '"made-up"' })).status,
    429,
  )

  shop.clock.advance(61_000)
  for (const range of ['bytes=99999999-', 'bytes=-0', 'bytes=0-0,10-20', 'bytes=0-,0-,0-,0-,0-']) {
    const reply = await ada.download('/api/download', { range })
    assert.equal(reply.status, 416, range)
    assert.match(reply.headers.get('content-range') ?? '', /^bytes \*\/\d+$/)
  }
  assert.equal(await count(), 1)
  assert.equal((await ada.download('/api/download', { range: 'nonsense' })).status, 200)
  assert.equal(await count(), 2)
})

test('of one download three archives’ bytes are sent at most, and what a broken line lost is not counted', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const whole = await ada.download()
  const rest = { range: 'bytes=1-' }
  assert.equal((await ada.download('/api/download', rest)).status, 206)
  assert.equal((await ada.download('/api/download', rest)).status, 206)
  assert.equal((await ada.download('/api/download', rest)).status, 429)
  const { db } = shop.platform
  const sent = async () =>
    (await db.selectFrom('downloads').select('sent_bytes').executeTakeFirstOrThrow()).sent_bytes
  assert.equal(await sent(), 3 * whole.bytes.length - 2)
})

test('a link on another site spends no download', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const linked = await ada.request('GET', '/api/download', {
    headers: { 'sec-fetch-site': 'cross-site' },
  })
  assert.deepEqual([linked.status, linked.headers.get('location')], [302, '/dashboard'])
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 0)
  assert.equal(
    (await ada.download('/api/download', { 'sec-fetch-site': 'same-origin' })).status,
    200,
  )
})

test('HEAD returns a download’s headers and counts nothing', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  assert.equal((await ada.request('HEAD', '/api/download')).status, 403)
  assert.equal((await shop.store('HEAD', '/api/download')).status, 401)
  await shop.sell(ada, 'basic')
  const head = await ada.request('HEAD', '/api/download')
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  const whole = await ada.download()
  assert.equal(head.headers.get('content-length'), String(whole.bytes.length))
  assert.equal(head.headers.get('etag'), whole.headers.get('etag'))
  assert.equal((await ada.get('/api/purchases')).body[0].download_count, 1)
})

test('two buyers get different archives, the same buyer the same', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  await shop.sell(eve, 'basic')
  const first = await ada.download()
  assert.notDeepEqual((await eve.download()).bytes, first.bytes)
  shop.clock.advance(61_000)
  assert.deepEqual((await ada.download()).bytes, first.bytes)
})

test('missing product files return 404 and count no download', async (t) => {
  const shop = await openShop(t, { PRODUCTS_DIR: productsFolder(t) })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  assert.deepEqual(facts(await ada.download()), [
    404,
    { error: 'Product files not found', code: 'product_files_missing' },
  ])
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual([purchase.download_count, purchase.version], [0, null])
})

test('a product that cannot be packed returns 500, counts no download and reveals nothing', async (t) => {
  const root = productsFolder(t)
  writeFileSync(join(root, 'pro/releases.json'), '{broken')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const reply = await ada.download()
  assert.equal(reply.status, 500)
  assert.doesNotMatch(reply.body.error, /releases|JSON|\//)
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual([purchase.download_count, purchase.version], [0, null])
  assert.match((await ada.get('/dashboard')).text, /not available for download yet/)
})

test('products are sold from a bucket', async (t) => {
  const endpoint = await startBucket(t, {
    'shop/pro/1.0.0/a.txt': 'from a bucket',
    'shop/pro/1.0.0/deep/b.txt': 'deeper',
    'shop/pro/1.0.0/c.txt': 'third',
    'shop/pro/releases.json': releases('1.0.0'),
  })
  const shop = await openShop(t, sellingFrom(endpoint))
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const reply = await ada.download()
  assert.equal(reply.status, 200)
  assert.deepEqual(await unpack(reply.bytes, reply.headers.get('x-license-key') ?? ''), {
    'latchkey-pro-1.0.0/a.txt': 'from a bucket',
    'latchkey-pro-1.0.0/c.txt': 'third',
    'latchkey-pro-1.0.0/deep/b.txt': 'deeper',
  })
})

test('while a bucket fails or hangs, the shop stays open and compressed releases can be downloaded', async (t) => {
  const trouble: Trouble = {}
  const objects = {
    'shop/pro/1.0.0/a.txt': 'from a bucket',
    'shop/pro/releases.json': releases('1.0.0'),
  }
  const shop = await openShop(t, sellingFrom(await startBucket(t, objects, trouble)))
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const first = await ada.download()
  assert.equal(first.status, 200)
  const home = async () =>
    (await shop.store('GET', '/', { signal: AbortSignal.timeout(20_000) })).text
  const goesOn = async () => {
    shop.clock.advance(HOUR_MS)
    assert.match(await home(), /\/products\/pro#buy"/)
    assert.deepEqual((await ada.download()).bytes, first.bytes)
  }

  trouble.failures = Number.POSITIVE_INFINITY
  await goesOn()
  trouble.failures = 0
  Object.assign(objects, {
    'shop/basic/1.0.0/a.txt': 'new',
    'shop/basic/releases.json': releases('1.0.0'),
  })
  shop.clock.advance(HOUR_MS)
  for (let tries = 0; tries < 500 && !/\/products\/basic#buy"/.test(await home()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.match(await home(), /\/products\/basic#buy"/)
  trouble.isSilent = true
  await goesOn()
})

test('a bucket that has never answered delays no page', async (t) => {
  const shop = await openShop(t, sellingFrom(await startBucket(t, {}, { isSilent: true })))
  const { text } = await shop.store('GET', '/', { signal: AbortSignal.timeout(20_000) })
  assert.equal(text.match(/Coming soon/g)?.length, 3)
})

test('the newest release published before the entitlement ended is served', async (t) => {
  const root = productsFolder(t)
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  mkdirSync(join(root, 'pro/9.0.0'))
  writeFileSync(join(root, 'pro/9.0.0/a.txt'), 'too late')
  const late = new Date(Date.now() + 370 * 24 * HOUR_MS).toISOString()
  writeFileSync(
    join(root, 'pro/releases.json'),
    JSON.stringify([
      { version: '1.0.0', published_at: '2026-01-01T00:00:00Z', notes: '' },
      { version: '9.0.0', published_at: late, notes: '' },
    ]),
  )
  shop.clock.advance(380 * 24 * HOUR_MS)
  const again = await shop.buyer('ada')
  const reply = await again.download()
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('x-product-version'), '1.0.0')
  const [download] = (await again.get('/api/download/history')).body
  assert.equal(download.version, '1.0.0')
})

test('the history shows the caller’s own downloads, newest first, at most 50', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  await shop.sell(ada, 'pro')
  await shop.sell(eve, 'basic')
  await eve.download()
  const [pro, basic] = (await ada.get('/api/purchases')).body
  await ada.download(`/api/download?purchase_id=${basic.id}`, { 'user-agent': 'Test/1.0' })
  shop.clock.advance(1000)
  await ada.download(`/api/download?purchase_id=${pro.id}`)

  const history = (await ada.get('/api/download/history')).body
  assert.deepEqual(
    history.map(({ purchase_id }: { purchase_id: string }) => purchase_id),
    [pro.id, basic.id],
  )
  const entry = history[1]
  assert.deepEqual(Object.keys(entry).sort(), [
    'country',
    'downloaded_at',
    'id',
    'ip_address',
    'purchase_id',
    'user_agent',
    'user_id',
    'version',
  ])
  assert.equal(entry.user_id, ada.userId)
  assert.equal(entry.version, '1.1.0')
  assert.equal(entry.ip_address, '127.0.0.1')
  assert.equal(entry.user_agent, 'Test/1.0')
  assert.equal(entry.country, null)

  const ofBasic = (await ada.get(`/api/download/history?purchase_id=${basic.id}`)).body
  assert.equal(ofBasic.length, 1)
  assert.deepEqual((await eve.get(`/api/download/history?purchase_id=${basic.id}`)).body, [])
  assert.equal((await ada.get('/api/download/history?purchase_id=x')).status, 422)
  assert.equal((await shop.store('GET', '/api/download/history')).status, 401)

  const { db } = shop.platform
  const row = await db
    .selectFrom('downloads')
    .selectAll()
    .where('id', '=', entry.id)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('downloads')
    .values(Array.from({ length: 60 }, () => ({ ...row, id: randomUUID() })))
    .execute()
  assert.equal((await ada.get('/api/download/history')).body.length, 50)
})

test('the dashboard shows the checksum of what was downloaded', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  const { bytes } = await ada.download()
  // The download has computed the checksum: nothing is encrypted a second time.
  const page = await ada.get('/dashboard')
  assert.ok(page.text.includes(createHash('sha256').update(bytes).digest('hex')))
})

test('a download that has begun needs no database any more', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  // The first file read after the headers is missing.
  await sql`alter table archive_checksums rename to archive_checksums_away`.execute(
    shop.platform.db,
  )
  const reply = await ada.download()
  assert.equal(reply.status, 200)
  assert.equal(reply.bytes.length, Number(reply.headers.get('content-length')))
})

test('a client that disconnects or reads slowly keeps no resources', async (t) => {
  const root = productsFolder(t)
  writeFileSync(join(root, 'pro/1.0.0/large.bin'), randomBytes(24_000_000))
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')

  const rssBefore = process.memoryUsage().rss
  const leaving = new AbortController()
  const response = await fetch(`${shop.storefrontUrl}/api/download`, {
    headers: { cookie: ada.cookie },
    signal: leaving.signal,
  })
  const reader = response.body!.getReader()
  const first = Buffer.from((await reader.read()).value ?? [])
  assert.equal(openPacks(), existsSync('/proc/self/fd') ? 1 : 0)
  leaving.abort()
  await reader.read().catch(() => {})
  for (let tries = 0; openPacks() > 0 && tries < 500; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(openPacks(), 0)
  const { db } = shop.platform
  const sent = async () =>
    (await db.selectFrom('downloads').select('sent_bytes').executeTakeFirstOrThrow()).sent_bytes
  for (let tries = 0; (await sent()) > 20_000_000 && tries < 500; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok((await sent()) < 20_000_000)
  assert.ok(process.memoryUsage().rss - rssBefore < 200_000_000)

  const size = Number(response.headers.get('content-length'))
  const rest = await ada.download('/api/download', { range: `bytes=${first.length}-` })
  assert.equal(rest.status, 206)
  assert.equal(first.length + rest.bytes.length, size)
  const files = await unpack(
    Buffer.concat([first, rest.bytes]),
    response.headers.get('x-license-key') ?? '',
  )
  assert.deepEqual(
    Object.keys(files).sort(),
    ['a.txt', 'b.bin', 'large.bin'].map((name) => `latchkey-pro-1.0.0/${name}`),
  )
})

/** Packs this process holds open, as the kernel sees them; 0 where it does not tell. */
function openPacks(): number {
  if (!existsSync('/proc/self/fd')) return 0
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('.pack')
    } catch {
      return false
    }
  }).length
}

test('a browser gets a page for an error, a program the JSON', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const page = await ada.get('/api/download', { 'sec-fetch-dest': 'document' })
  assert.equal(page.status, 403)
  assert.match(page.text, /<h1>Download not available<\/h1>/)
  assert.deepEqual((await ada.get('/api/download')).body, {
    error: 'No active purchase found',
    code: 'no_active_purchase',
  })
})

/** Settings of a shop whose products lie in the bucket at this endpoint. */
function sellingFrom(endpoint: string) {
  return {
    PRODUCTS_DIR: 's3://products-bucket/shop',
    S3_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
  }
}

function facts({ status, body }: { status: number; body: unknown }) {
  return [status, body]
}

async function unpack(bytes: Buffer, password: string): Promise<Record<string, string>> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { password })
  const files: Record<string, string> = {}
  for (const entry of await reader.getEntries()) {
    if (!entry.directory)
      files[entry.filename] = Buffer.from(await entry.getData(new Uint8ArrayWriter())).toString()
  }
  return files
}

function productsFolder(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'shop-products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'pro/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'a'.repeat(5000))
  writeFileSync(join(root, 'pro/1.0.0/b.bin'), createHash('sha512').update('b').digest())
  writeFileSync(join(root, 'pro/releases.json'), releases('1.0.0'))
  return root
}

function addRelease(root: string, version: string): void {
  cpSync(join(root, 'pro/1.0.0'), join(root, `pro/${version}`), { recursive: true })
  const versions = ['1.0.0', '2.0.0', '3.0.0']
  writeFileSync(
    join(root, 'pro/releases.json'),
    releases(...versions.slice(0, versions.indexOf(version) + 1)),
  )
}

async function countsLeft(buyer: Buyer): Promise<Record<string, number>> {
  const [purchase] = (await buyer.get('/api/purchases')).body
  return Object.fromEntries(
    purchase.releases.map((one: { version: string; downloads_left: number }) => [
      one.version,
      one.downloads_left,
    ]),
  )
}

/** Matches the button of an older release and its count. */
function left(id: string, version: string, count: number): RegExp {
  return new RegExp(
    `${count} of 5 left</span> <span data-older><a [^>]*purchase_id=${id}&(amp;)?version=${version}"`,
  )
}

function releases(...versions: string[]): string {
  return JSON.stringify(
    versions.map((version, index) => ({
      version,
      published_at: `2026-01-0${index + 1}T00:00:00Z`,
      notes: '',
    })),
  )
}
