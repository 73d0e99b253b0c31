import assert from 'node:assert/strict'
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { run as licenseKeys } from '#cli/license-keys.ts'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'

const DAY_MS = 86_400_000

test('a machine is activated once, seen in the list, and released', async (t) => {
  const { shop, ada, id, key } = await sellOne(t)
  const machine = {
    license_key: key,
    fingerprint: 'machine-1',
    name: 'Build server',
    platform: 'linux-x64',
    version: '1.0.0',
  }
  const first = await license(shop, 'activate', machine)
  assert.equal(first.status, 201, first.text)
  const again = await license(shop, 'activate', { ...machine, version: '1.1.0' })
  assert.deepEqual(
    [again.status, again.body.activation_id],
    [200, first.body.activation_id],
    'not counted twice',
  )

  const { body } = await ada.get(`/api/purchases/${id}/activations`)
  const [{ activated_at, last_seen_at, ...shown }] = body.activations
  assert.deepEqual(shown, {
    id: first.body.activation_id,
    name: 'Build server',
    platform: 'linux-x64',
    version: '1.1.0',
  })
  assert.deepEqual([body.activations.length, body.limit, body.releases_left], [1, 3, 3])

  const activation = { license_key: key, activation_id: first.body.activation_id }
  assert.deepEqual(codeOf(await license(shop, 'verify', activation)), [true, 'ok'])
  const released = await license(shop, 'deactivate', activation)
  assert.equal(released.status, 200, released.text)
  const repeated = await license(shop, 'deactivate', activation)
  assert.deepEqual([repeated.status, repeated.body], [200, released.body])
  assert.deepEqual(codeOf(await license(shop, 'verify', activation)), [false, 'not_activated'])
  assert.deepEqual(
    refusal(await license(shop, 'file', { license_key: key, fingerprint: 'machine-1' })),
    [403, 'not_activated'],
  )
  const after = (await ada.get(`/api/purchases/${id}/activations`)).body
  assert.deepEqual([after.activations, after.releases_left], [[], 2])
})

test('100 simultaneous activations never exceed the limit', async (t) => {
  const { shop, ada, id, key } = await sellOne(t)
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      license(shop, 'activate', { license_key: key, fingerprint: `machine-${index}` }),
    ),
  )
  const statuses = replies.map(({ status }) => status)
  assert.deepEqual(
    [statuses.filter((status) => status === 201).length, new Set(statuses)],
    [3, new Set([201, 409])],
  )
  const full = replies.find(({ status }) => status === 409)
  assert.equal(full?.body.code, 'activations_full')
  assert.match(full?.body.error, /active on 3 machines/)
  const { activations } = (await ada.get(`/api/purchases/${id}/activations`)).body
  assert.equal(activations.length, 3)
  assert.deepEqual(
    (await license(shop, 'activate', { license_key: key, fingerprint: 'late' })).body.activations,
    activations,
    'the refusal lists the machines',
  )
})

test('one machine that activates many times at once is counted once', async (t) => {
  const { shop, ada, id, key } = await sellOne(t)
  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      license(shop, 'activate', { license_key: key, fingerprint: 'same' }),
    ),
  )
  const ids = new Set(replies.map(({ body }) => body.activation_id))
  assert.deepEqual([ids.size, ids.has(undefined)], [1, false])
  assert.equal(replies.filter(({ status }) => status === 201).length, 1)
  for (const fingerprint of ['second', 'third'])
    assert.equal((await license(shop, 'activate', { license_key: key, fingerprint })).status, 201)
  assert.equal((await ada.get(`/api/purchases/${id}/activations`)).body.activations.length, 3)
})

test('three machines are released a month, by the program and the buyer together', async (t) => {
  const { shop, ada, id, key } = await sellOne(t)
  const activate = async (fingerprint: string): Promise<string> =>
    (await license(shop, 'activate', { license_key: key, fingerprint })).body.activation_id
  const machines = [await activate('a'), await activate('b'), await activate('c')]

  const replies = await Promise.all([
    license(shop, 'deactivate', { license_key: key, activation_id: machines[0] }),
    ada.request('DELETE', `/api/purchases/${id}/activations/${machines[1]}`),
    ada.request('DELETE', `/api/purchases/${id}/activations/${machines[2]}`),
  ])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  const next = await activate('d')
  const refused = await ada.request('DELETE', `/api/purchases/${id}/activations/${next}`)
  assert.deepEqual(refusal(refused), [409, 'release_limit_reached'])
  shop.clock.advance(Date.parse(refused.body.available_at) - shop.clock.ms() + 1000)
  const later = await ada.request('DELETE', `/api/purchases/${id}/activations/${next}`)
  assert.equal(later.status, 200, later.text)
})

test('a limit set for one buyer applies in place of the product’s', async (t) => {
  const { shop, id, key } = await sellOne(t)
  const limitTo = (limit: number | null) =>
    shop.app.platform.db
      .updateTable('purchases')
      .set({ activations_limit: limit })
      .where('id', '=', id)
      .execute()
  const activate = async (fingerprint: string) =>
    (await license(shop, 'activate', { license_key: key, fingerprint })).status
  await limitTo(1)
  assert.deepEqual([await activate('a'), await activate('b')], [201, 409])
  await limitTo(5)
  for (const name of ['b', 'c', 'd', 'e']) assert.equal(await activate(name), 201)
  assert.equal(await activate('f'), 409)
})

test('an offline license verifies with the published key, and a forged one does not', async (t) => {
  const { shop, key } = await sellOne(t)
  const fingerprint = 'machine “ä”'
  const activated = (await license(shop, 'activate', { license_key: key, fingerprint })).body
  const { file, until } = (await license(shop, 'file', { license_key: key, fingerprint })).body
  const keys = (await shop.store('GET', '/.well-known/license-keys.json')).body

  const claims = openLicense(file, keys)
  const { issued_at, until: ends, updates_until, ...rest } = claims ?? {}
  assert.deepEqual(rest, {
    issuer: shop.config.urls.storefront,
    product: 'pro',
    tier: 'pro',
    seats: 1,
    activation_id: activated.activation_id,
    fingerprint,
    features: ['RAG pipeline', 'Streaming chat', 'Admin dashboard', 'API keys'],
  })
  assert.equal(ends, until)
  assert.equal(Date.parse(until) - Date.parse(issued_at), 30 * DAY_MS)
  assert.ok(openLicense(activated.file, keys))

  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const other = { ...claims, fingerprint: 'another machine' }
  for (const forged of [
    { ...file, payload: encode(other) },
    { ...file, protected: encode({ alg: 'none', kid: keys.keys[0].kid }), signature: '' },
    { ...file, signature: `${file.signature.slice(0, -4)}AAAA` },
    { ...file, payload: activated.file.payload.slice(0, -2) },
  ]) {
    assert.equal(openLicense(forged, keys), null)
  }
})

test('after a rotation the new key signs, and an old license is valid until its key is removed', async (t) => {
  const { shop, key } = await sellOne(t)
  const machine = { license_key: key, fingerprint: 'machine-1' }
  const old = (await license(shop, 'activate', machine)).body.file
  const { platform, config } = shop.app
  const lines: string[] = []
  const print = (line = '') => void lines.push(line)
  const command = (...args: string[]) =>
    licenseKeys(args, { config, platform: async () => platform, print })
  assert.equal(await command('rotate'), 0)
  const [kid = ''] = lines.at(-1)?.split(' ') ?? []
  shop.clock.advance(61_000)
  const { keys } = (await shop.store('GET', '/.well-known/license-keys.json')).body
  assert.equal(keys[0].kid, kid)
  const { file } = (await license(shop, 'file', machine)).body
  assert.equal(kidOf(file), kid)
  assert.notEqual(kidOf(old), kid)
  assert.ok(openLicense(old, { keys }) && openLicense(file, { keys }))

  for (const args of [['remove'], ['rotate', 'x'], ['drop', kid]])
    assert.equal(await command(...args), 2)
  assert.equal(await command('remove', kid), 1, 'the key that signs stays')
  assert.equal(await command('remove', kidOf(old)), 0)
  shop.clock.advance(2000)
  const left = (await shop.store('GET', '/.well-known/license-keys.json')).body
  assert.equal(openLicense(old, left), null)
  assert.ok(openLicense(file, left))
  lines.length = 0
  assert.equal(await command(), 0)
  assert.deepEqual([lines.length, lines[0]?.endsWith('  signs')], [1, true])
})

test('a refund removes the activations, and a restored purchase starts anew', async (t) => {
  const { shop, ada, id, key, payment } = await sellOne(t)
  const machine = { license_key: key, fingerprint: 'machine-1' }
  const { activation_id } = (await license(shop, 'activate', machine)).body
  const refund = { payment_intent: payment, amount: 29_900, amount_refunded: 29_900 }
  await shop.event('charge.refunded', { ...refund, refunded: true })

  const verified = await license(shop, 'verify', { license_key: key, activation_id })
  assert.deepEqual(codeOf(verified), [false, 'refunded'])
  for (const path of ['activate', 'file'])
    assert.deepEqual(refusal(await license(shop, path, machine)), [403, 'license_revoked'])
  assert.deepEqual((await ada.get(`/api/purchases/${id}/activations`)).body.activations, [])
  assert.deepEqual(
    refusal(await license(shop, 'deactivate', { license_key: key, activation_id })),
    [404, 'activation_not_found'],
  )
  const { activation_count } = await shop.app.platform.db
    .selectFrom('purchases')
    .select('activation_count')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.equal(activation_count, 0)
})

test('verification names a dispute and the end of the updates; the license stays valid', async (t) => {
  const { shop, key, payment } = await sellOne(t)
  shop.clock.advance(366 * DAY_MS)
  const ended = await license(shop, 'verify', { license_key: key })
  assert.deepEqual(codeOf(ended), [true, 'updates_ended'])
  assert.equal(ended.body.updates_until, ended.body.entitled_until)
  await shop.event('charge.dispute.created', {
    id: 'dp_1',
    payment_intent: payment,
    status: 'needs_response',
  })
  assert.deepEqual(codeOf(await license(shop, 'verify', { license_key: key })), [true, 'disputed'])
  assert.deepEqual(
    refusal(await license(shop, 'activate', { license_key: key, fingerprint: 'new' })),
    [403, 'payment_disputed'],
  )
})

test('an upgrade and a rotated key keep the machines; the old key is void', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const [basic] = (await ada.get('/api/purchases')).body
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  const machine = { license_key: key, fingerprint: 'machine-1' }
  const { activation_id } = (await license(shop, 'activate', machine)).body
  const body = { tier: 'pro', from: basic.id }
  await shop.pay(ada, (await ada.request('POST', '/api/checkout', { body })).body.url)

  const upgraded = await license(shop, 'verify', { license_key: key, activation_id })
  assert.deepEqual([...codeOf(upgraded), upgraded.body.tier], [true, 'ok', 'pro'])
  assert.equal((await license(shop, 'activate', machine)).status, 200)
  for (const fingerprint of ['second', 'third'])
    assert.equal((await license(shop, 'activate', { license_key: key, fingerprint })).status, 201)
  assert.equal(
    (await license(shop, 'activate', { license_key: key, fingerprint: 'fourth' })).status,
    409,
  )

  const pro = (await ada.get('/api/purchases')).body.find(
    ({ tier }: { tier: string }) => tier === 'pro',
  )
  const rotated = await ada.request('POST', `/api/purchases/${pro.id}/rotate-key`)
  assert.equal(rotated.status, 200, rotated.text)
  const { license_key } = rotated.body
  assert.match(license_key, /^LK(-[0-9A-HJKMNP-TV-Z]{4}){7}$/)
  assert.deepEqual(codeOf(await license(shop, 'verify', { license_key: key })), [false, null])
  assert.deepEqual(codeOf(await license(shop, 'verify', { license_key, activation_id })), [
    true,
    'ok',
  ])
  shop.clock.advance(61_000)
  assert.equal((await ada.download()).headers.get('x-license-key'), license_key)
  const emails = await shop.mail(ada.email)
  assert.ok(
    emails.some(({ text }) => text.includes(license_key)),
    'emailed',
  )
  // The replaced purchase has the key, too, but does not rotate it.
  const old = await ada.request('POST', `/api/purchases/${basic.id}/rotate-key`)
  assert.deepEqual(refusal(old), [403, 'license_revoked'])
})

test('simultaneous rotations leave one key, and a license rotates five times a day', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_GENERAL: '1000/60' })
  const { ada, id, key } = await sellTo(shop, 'ada')
  const rotate = () => ada.request('POST', `/api/purchases/${id}/rotate-key`)
  const replies = await Promise.all(Array.from({ length: 8 }, rotate))
  const keys = replies.filter(({ status }) => status === 200).map(({ body }) => body.license_key)
  assert.equal(keys.length, 5)
  assert.ok(replies.every(({ status }) => status === 200 || status === 429))
  const valid: string[] = []
  for (const license_key of [key, ...keys])
    if ((await license(shop, 'verify', { license_key })).body.valid) valid.push(license_key)
  assert.equal(valid.length, 1)
  const names = await sql`select owner from lookups where kind = 'license'`.execute(
    shop.app.platform.db,
  )
  assert.equal(names.rows.length, 1)
})

test('an account’s deletion keeps its machines active, without their names', async (t) => {
  const { shop, ada, key } = await sellOne(t)
  const machine = { license_key: key, fingerprint: 'machine-1', name: 'Ada’s laptop' }
  const { activation_id } = (await license(shop, 'activate', machine)).body
  const account = await shop.app.as('ada')
  assert.equal(
    (await account.delete('/api/users/me', { password: 'correct horse battery' })).status,
    200,
  )
  assert.equal((await ada.get('/api/purchases')).status, 401)
  assert.deepEqual(codeOf(await license(shop, 'verify', { license_key: key, activation_id })), [
    true,
    'ok',
  ])
  const [row] = await shop.app.platform.db.selectFrom('activations').selectAll().execute()
  assert.equal(row?.name, null)
  assert.equal((await license(shop, 'deactivate', { license_key: key, activation_id })).status, 200)
})

test('huge, empty and hostile fingerprints are refused and store nothing', async (t) => {
  const { shop, ada, id, key } = await sellOne(t)
  for (const fingerprint of [
    'x'.repeat(1024 * 1024),
    'x'.repeat(201),
    '',
    'a\u0000b',
    'a\nb',
    7,
    null,
    ['a'],
  ]) {
    const reply = await license(shop, 'activate', { license_key: key, fingerprint })
    assert.ok(
      [400, 413, 422].includes(reply.status),
      `${reply.status}: ${reply.text.slice(0, 200)}`,
    )
  }
  const name = 'n'.repeat(1024 * 1024)
  const reply = await license(shop, 'activate', { license_key: key, fingerprint: 'a', name })
  assert.ok([413, 422].includes(reply.status))
  assert.deepEqual((await ada.get(`/api/purchases/${id}/activations`)).body.activations, [])
})

test('guessed keys and foreign activations learn nothing, and guessing is limited', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_GENERAL: '30/86400' })
  const { key } = await sellTo(shop, 'ada')
  const eve = await sellTo(shop, 'eve')
  const { activation_id } = (
    await license(shop, 'activate', { license_key: key, fingerprint: 'hers' })
  ).body
  // Eve's key neither sees nor releases ada's machine.
  const foreign = { license_key: eve.key, activation_id }
  assert.deepEqual(refusal(await license(shop, 'deactivate', foreign)), [
    404,
    'activation_not_found',
  ])
  assert.deepEqual(codeOf(await license(shop, 'verify', foreign)), [false, 'not_activated'])
  assert.deepEqual(codeOf(await license(shop, 'verify', { license_key: key, activation_id })), [
    true,
    'ok',
  ])

  const statuses = new Set<number>()
  for (let guess = 0; guess < 40; guess++) {
    const body = { license_key: `LK-${guess}`, fingerprint: 'a', activation_id: randomUUID() }
    const reply = await license(shop, guess % 2 === 0 ? 'activate' : 'deactivate', body)
    statuses.add(reply.status)
  }
  assert.deepEqual(statuses, new Set([404, 429]))
})

async function sellOne(t: Parameters<typeof openShop>[0]) {
  const shop = await openShop(t)
  return { shop, ...(await sellTo(shop, 'ada')) }
}

async function sellTo(shop: Shop, name: string) {
  const buyer: Buyer = await shop.buyer(name)
  const payment = await shop.sell(buyer, 'pro')
  const [{ id }] = (await buyer.get('/api/purchases')).body
  const [email] = await shop.mail(buyer.email)
  const key = /LK(-\w{4}){7}/.exec(email?.text ?? '')?.[0] ?? ''
  return { ada: buyer, id: id as string, key, payment }
}

const license = (shop: Shop, action: string, body: object) =>
  shop.store('POST', `/api/license/${action}`, { body })

type Answer = Awaited<ReturnType<typeof license>>
const refusal = ({ status, body }: Answer) => [status, body.code]
const codeOf = ({ body }: Answer) => [body.valid, body.code]

type File = { protected: string; payload: string; signature: string }

const kidOf = (file: File): string =>
  JSON.parse(Buffer.from(file.protected, 'base64url').toString()).kid

/** Follows docs/licences.md: finds the key by its id and fixes the algorithm. */
function openLicense(
  file: File,
  { keys }: { keys: { kid: string; x: string }[] },
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies without declaring their types.
): any {
  const found = keys.find(({ kid }) => kid === kidOf(file))
  if (!found) return null
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: found.x },
    format: 'jwk',
  })
  const signed = Buffer.from(`${file.protected}.${file.payload}`)
  if (!verify(null, signed, key, Buffer.from(file.signature, 'base64url'))) return null
  return JSON.parse(Buffer.from(file.payload, 'base64url').toString())
}
