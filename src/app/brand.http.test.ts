// Everything that the server shows to customers, under a brand that a superuser saved while it ran.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Email } from '#mail/email.ts'
import { formatSender } from '#mail/mail.ts'
import type { TestApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { composeEmails } from '#testing/email-samples.ts'
import { createShop } from '#testing/shop.ts'

/** Names of the protocol, which clients read: headers, metrics. */
const PROTOCOL = /x-latchkey-[a-z-]+|latchkey_[a-z_]+/gi

const FOOTER = /\n--\nZebra Ltd\., 1 Savanna Road\nImprint: https:\/\/zebra\.example\/imprint\n$/

const ZEBRA = {
  name: 'Zebra & Söhne',
  legal_name: 'Zebra Ltd.',
  tagline: 'Stripes for everyone.',
  colours: { primary: '#1d4ed8' },
  links: { imprint: 'https://zebra.example/imprint' },
  mail: { footer: 'Zebra Ltd., 1 Savanna Road' },
}

test('pages, emails and descriptions show only the saved brand', async (t) => {
  const store = await openShop(t)
  const { app } = store
  const root = await saveBrand(app, ZEBRA)
  const shop = createShop(app)

  const ada = await app.as('ada')
  await app.post('/api/auth/forgot-password', { email: ada.email })
  await shop.subscribe(ada)
  const buyer = await store.buyer('ada')
  await shop.pay((await buyer.get('/api/checkout?tier=basic')).headers.get('location') ?? '')
  const message = { name: 'Ada', email: ada.email, subject: 'support', message: 'Hello' }
  assert.equal((await app.store('POST', '/api/contact', { body: message })).status, 200)
  await app.settle()
  const mails = (await app.get('/sandbox/mail.json')).body as Email[]
  assert.match(formatSender(app.config), /^"Zebra & Söhne" <no-reply@/)
  assert.ok(mails.length >= 5, `${mails.length} emails`)
  for (const mail of mails.filter(({ to }) => to !== root.email)) {
    requireOwn(JSON.stringify(mail), mail.subject)
    assert.match(mail.text, FOOTER, mail.subject)
    assert.doesNotMatch(mail.html, /#1f6f54|#1c624e/, mail.subject)
  }

  const slug = app.config.catalogue.products[0]?.slug
  for (const path of [
    '/',
    '/pricing',
    '/login',
    '/login/code',
    '/contact',
    '/recover',
    '/withdraw',
    '/dashboard',
    '/purchased',
    '/claim',
    '/release-emails',
    '/no-such-page',
    `/products/${slug}`,
    `/products/${slug}/changelog`,
    `/products/${slug}/feed.xml`,
    `/products/${slug}/feed.json`,
    '/sitemap.xml',
    '/robots.txt',
    '/brand/square',
    '/assets/storefront.css',
  ]) {
    const { text } = await buyer.get(path)
    requireOwn(text, `storefront ${path}`)
    if (text.includes('</header>')) assert.match(text, /Zebra &amp; Söhne<\/a>/, path)
  }
  const home = (await app.store('GET', '/')).text
  assert.match(home, /<span>Zebra Ltd\.<\/span>/)
  assert.match(home, /<a href="https:\/\/zebra\.example\/imprint">Imprint<\/a>/)
  const [, look = ''] = /href="(\/assets\/brand\.css[^"]*)"/.exec(home) ?? []
  assert.match((await app.store('GET', look)).text, /--green:light-dark\(#1d4ed8,#/)
  const manifest = JSON.parse((await app.get('/manifest.webmanifest')).text)
  assert.deepEqual(
    [manifest.name, manifest.description],
    ['Zebra & Söhne', 'Stripes for everyone.'],
  )
  const download = await buyer.download()
  assert.match(download.headers.get('content-disposition') ?? '', /zebra-sohne-basic-/)

  for (const path of [
    '/docs',
    '/redoc',
    '/setup',
    '/no-such-page',
    '/sandbox',
    '/sandbox/processor',
    '/brand/square',
    '/.well-known/security.txt',
  ]) {
    requireOwn((await app.request('GET', path, { headers: { accept: 'text/html' } })).text, path)
  }
  const description = (await app.get('/openapi.json')).body
  const ofStore = (await app.store('GET', '/openapi.json')).body
  assert.deepEqual(
    [description.info.title, ofStore.info.title],
    ['Zebra & Söhne', 'Zebra & Söhne storefront'],
  )
  requireOwn(JSON.stringify(description.info) + JSON.stringify(ofStore.info), 'descriptions')
})

test('every email has the brand’s name and footer, and no other name', async (t) => {
  const { app } = await openShop(t)
  await saveBrand(app, ZEBRA)
  const emails = composeEmails(app.config, null)
  assert.ok(emails.length >= 30, String(emails.length))
  for (const [name, { subject, text, html }] of emails) {
    requireOwn(subject + text + html, name)
    assert.doesNotMatch(subject + text, /undefined|\[object/, name)
    assert.match(text, FOOTER, name)
    assert.doesNotMatch(html, /#1f6f54|#1c624e/, name)
    assert.match(html, /Zebra &amp; Söhne/, name)
  }
})

test('the sender’s name is the brand’s for emails, then MAIL_FROM’s, then the brand’s', async (t) => {
  const { app } = await openShop(t, { MAIL_FROM: 'Post <post@example.com>' })
  assert.equal(formatSender(app.config), 'Post <post@example.com>')
  await saveBrand(app, { name: 'Zebra', mail: { from_name: 'Zebra "Mail"' } })
  assert.equal(formatSender(app.config), '"Zebra \\"Mail\\"" <post@example.com>')
})

test('PRODUCT_NAME is the name of a brand without one', async (t) => {
  const { app } = await openShop(t, { PRODUCT_NAME: 'zebra' })
  requireOwn((await app.store('GET', '/pricing')).text, 'pricing')
  assert.equal((await app.get('/api/brand')).body.name, 'Zebra')
  assert.equal(formatSender(app.config), 'Zebra <no-reply@localhost>')
})

async function saveBrand(app: TestApp, form: object) {
  const root = await app.as('root', { superuser: true })
  assert.equal((await root.request('PUT', '/api/admin/brand', { body: form })).status, 200)
  return root
}

function requireOwn(text: string, where: string): void {
  const found = text.replaceAll(PROTOCOL, '').match(/.{0,40}latchkey.{0,40}/gi) ?? []
  assert.deepEqual(found, [], where)
}
