import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShop, type Shop } from '#testing/buyer.ts'
import { UPDATE_ENDS_JOB } from './update-ends.ts'

const DAY_MS = 24 * 3_600_000
const TEAM = { SUPPORT_EMAIL: 'team@shop.example' }

test('the owner gets one email for each sale', async (t) => {
  const shop = await openShop(t, TEAM)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const [{ id }] = (await ada.get('/api/purchases')).body
  const { body } = await ada.request('POST', '/api/checkout', { body: { tier: 'pro', from: id } })
  await shop.pay(ada, body.url)
  await shop.app.service.billing.sync()
  const sold = (await shop.mail('team@shop.example')).filter(({ subject }) => /Sold/.test(subject))
  assert.deepEqual(sold.map(({ subject }) => subject.replace(/^\[.*\] /, '')).sort(), [
    'Sold: Basic for $199.00',
    'Sold: Pro for $100.00',
  ])
  assert.ok(sold.every(({ text }) => text.includes(ada.email)))

  const licenses = (await shop.mail(ada.email)).filter(({ text }) => text.includes('LK-'))
  assert.equal(licenses.length, 2)
  assert.ok(licenses.some(({ text }) => /Your license key stays the same/.test(text)))
  assert.ok(licenses.every(({ text }) => /Paid: \$/.test(text) && /Order: /.test(text)))
  assert.ok(licenses.every(({ text }) => /Receipt: https?:\/\//.test(text)))
})

test('a buyer gets an email when their license is revoked, by the seller or by a lost dispute', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const revoked = async () =>
    (await shop.mail(ada.email)).filter(({ subject }) => /was revoked/.test(subject))
  const [{ id }] = (await ada.get('/api/purchases')).body
  const root = await shop.as('root', { superuser: true })
  await root.post(`/api/admin/purchases/${id}/revoke`, { reason: 'the key was published' })
  assert.equal((await revoked()).length, 1)
  assert.equal((await revoked())[0]?.text.includes('published'), false, 'the reason is internal')
  await root.post(`/api/admin/purchases/${id}/restore`)
  await shop.event('charge.dispute.closed', { payment_intent: payment, status: 'lost' })
  await shop.event('charge.dispute.closed', { payment_intent: payment, status: 'lost' })
  const emails = await revoked()
  assert.equal(emails.length, 2)
  assert.equal(emails.filter(({ text }) => /Your bank returned/.test(text)).length, 1)
})

test('buyers get one email 30 days before their updates end, and one on the day', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-ends-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const product = { tier: 'pro', name: 'Kit', price: 100, currency: 'usd', renewal_price: 49 }
  writeFileSync(join(folder, 'catalogue.json'), JSON.stringify({ products: [product] }))
  const shop = await openShop(t, { CATALOGUE: join(folder, 'catalogue.json') })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'pro')
  const refunded = await shop.sell(eve, 'pro')
  await shop.event('charge.refunded', {
    payment_intent: refunded,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  const [{ entitled_until }] = (await ada.get('/api/purchases')).body
  const told = async (email: string) =>
    (await shop.mail(email)).map(({ subject }) => subject).filter((one) => /^Updates/.test(one))

  await runAt(shop, Date.parse(entitled_until) - 31 * DAY_MS)
  assert.deepEqual(await told(ada.email), [])
  await runAt(shop, Date.parse(entitled_until) - 30 * DAY_MS + 1000)
  await runAt(shop, Date.parse(entitled_until) - 30 * DAY_MS + 3_600_000)
  const ahead = await told(ada.email)
  assert.equal(ahead.length, 1)
  assert.match(ahead[0] ?? '', /end on \d{4}-\d\d-\d\d$/)
  const [email] = (await shop.mail(ada.email)).filter(({ subject }) => subject === ahead[0])
  assert.match(email?.text ?? '', /Renewal: \$49\.00/)
  assert.match(email?.text ?? '', /\/api\/checkout\?tier=pro&renew=/)

  await runAt(shop, Date.parse(entitled_until) - DAY_MS)
  await runAt(shop, Date.parse(entitled_until) + 1000)
  await runAt(shop, Date.parse(entitled_until) + DAY_MS)
  assert.equal((await told(ada.email)).length, 2)
  assert.deepEqual(await told(eve.email), [])
})

test('an invoice leads to its PDF, and a sale without one to the receipt', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.buy(ada, 'pro')
  const [{ id }] = (await ada.get('/api/purchases')).body
  const { status, headers } = await ada.get(`/api/purchases/${id}/invoice`)
  assert.equal(status, 302)
  const receipt = new URL(headers.get('location') ?? '')
  assert.match((await shop.get(receipt.pathname)).text, /\$299\.00/)
  assert.equal((await eve.get(`/api/purchases/${id}/invoice`)).status, 404)
  assert.equal((await shop.store('GET', `/api/purchases/${id}/invoice`)).status, 401)
})

test('with taxes, a purchase has the PDF of its invoice', async (t) => {
  const shop = await openShop(t, { TAX: 'stripe' })
  const ada = await shop.buyer('ada')
  const { headers } = await ada.get('/api/checkout?tier=pro')
  await shop.pay(ada, headers.get('location') ?? '', { terms: 'on' })
  const [{ id }] = (await ada.get('/api/purchases')).body
  const reply = await ada.get(`/api/purchases/${id}/invoice`)
  assert.match(reply.headers.get('location') ?? '', /\/invoices\/.*\/pdf$/)
})

async function runAt(shop: Shop, atMs: number): Promise<void> {
  shop.clock.advance(atMs - shop.clock.ms())
  const { jobs, db } = shop.platform
  await jobs.enqueue(db, UPDATE_ENDS_JOB, {}, { key: UPDATE_ENDS_JOB })
  await shop.settle()
}
