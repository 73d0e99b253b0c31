import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'

/** Names of the protocol, which clients read: headers, metrics. */
const PROTOCOL = /x-latchkey-[a-z-]+|latchkey_[a-z_]+/gi

test('pages, emails and API descriptions carry the operator’s PRODUCT_NAME alone', async (t) => {
  const store = await openShop(t, { PRODUCT_NAME: 'zebra' })
  const { app } = store
  const shop = createShop(app)
  const own = (text: string, where: string) => {
    const found = text.replaceAll(PROTOCOL, '').match(/.{0,40}latchkey.{0,40}/gi) ?? []
    assert.deepEqual(found, [], where)
  }

  const ada = await app.as('ada')
  await app.post('/api/auth/forgot-password', { email: ada.email })
  await shop.subscribe(ada)
  const buyer = await store.buyer('ada')
  await shop.pay((await buyer.get('/api/checkout?tier=basic')).headers.get('location') ?? '')
  const message = { name: 'Ada', email: ada.email, subject: 'support', message: 'Hello' }
  assert.equal((await app.store('POST', '/api/contact', { body: message })).status, 200)
  await app.settle()
  const mails = (await app.get('/sandbox/mail.json')).body as {
    subject: string
    text: string
    html: string
  }[]
  assert.ok(mails.length >= 5, `${mails.length} emails`)
  for (const mail of mails) own(JSON.stringify(mail), mail.subject)
  assert.ok(mails.some(({ text }) => text.includes('Zebra')))
  assert.match(app.config.mail.from, /^Zebra </)

  for (const path of [
    '/',
    '/pricing',
    '/login',
    '/contact',
    '/recover',
    '/dashboard',
    '/no-such-page',
  ]) {
    own((await buyer.get(path)).text, `storefront ${path}`)
  }
  for (const path of [
    '/docs',
    '/redoc',
    '/setup',
    '/no-such-page',
    '/sandbox',
    '/sandbox/processor',
  ]) {
    own((await app.request('GET', path, { headers: { accept: 'text/html' } })).text, path)
  }
  const description = (await app.get('/openapi.json')).body
  const ofStore = (await app.store('GET', '/openapi.json')).body
  assert.deepEqual([description.info.title, ofStore.info.title], ['Zebra', 'Zebra storefront'])
  own(JSON.stringify(description.info) + JSON.stringify(ofStore.info), 'descriptions')
})
