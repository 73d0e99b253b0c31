// Everything that the server shows to customers, under a brand that a superuser saved while it ran.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signInCodeEmail } from '#mail/account-emails.ts'
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

/** One transparent pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const SVG = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>').toString('base64')}`

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

test('a preview shows the shop and an email under a brand that is not saved', async (t) => {
  const { app } = await openShop(t)
  const root = await app.as('root', { superuser: true })
  const form = { ...ZEBRA, logo: { light: PNG } }
  const { body, status } = await root.post('/api/admin/brand/preview', form)
  assert.equal(status, 200)
  assert.deepEqual([body.name, body.logo.light, body.logo.dark], [ZEBRA.name, PNG, PNG])
  for (const [part, markup] of [
    ['shop', body.shop],
    ['email', body.email.html],
  ]) {
    requireOwn(markup, part)
    assert.ok(markup.includes(`<img src="${PNG}" alt="Zebra &amp; Söhne"`), part)
    assert.match(markup, /#1d4ed8/, part)
    assert.doesNotMatch(markup, /<script|<link|src="\/|url\(/, part)
    assert.match(markup, /<body inert/, part)
  }
  assert.match(body.shop, /Zebra Ltd\./)
  assert.match(body.email.from, /^"Zebra & Söhne" </)
  assert.equal((await app.get('/api/brand')).body.name, 'Latchkey')

  const pale = { colours: { primary: '#facc15' } }
  const refused = await root.post('/api/admin/brand/preview', pale)
  assert.deepEqual(
    [refused.status, refused.body.detail[0].loc],
    [422, ['body', 'colours', 'primary']],
  )
  const eve = await app.as('eve')
  assert.equal((await eve.post('/api/admin/brand/preview', form)).status, 403)
})

test('emails show a logo that mail clients can show, and otherwise the name', async (t) => {
  const { app } = await openShop(t)
  const to = { id: null, email: 'a@b.c', full_name: null, locale: null }
  const compose = () => signInCodeEmail(app.config, { to, code: '12345678' })
  const address = (kind: string) => `src="${app.config.urls.base}/brand/${kind}?v=`
  await saveBrand(app, { ...ZEBRA, logo: { light: PNG, square: SVG } })
  assert.ok(compose().html.includes(address('light')))
  const [, logo = ''] = /src="([^"]+)"/.exec(compose().html) ?? []
  assert.equal((await app.get(logo.slice(app.config.urls.base.length))).status, 200)
  await saveBrand(app, { ...ZEBRA, logo: { square: PNG } })
  assert.ok(compose().html.includes(address('square')))
  await saveBrand(app, { ...ZEBRA, logo: { light: SVG } })
  assert.doesNotMatch(compose().html, /<img/)
  assert.match(compose().html, />Zebra &amp; Söhne<\/div>/)
})

test('PRODUCT_NAME is the name of a brand without one', async (t) => {
  const { app } = await openShop(t, { PRODUCT_NAME: 'zebra' })
  requireOwn((await app.store('GET', '/pricing')).text, 'pricing')
  assert.equal((await app.get('/api/brand')).body.name, 'Zebra')
  assert.equal(formatSender(app.config), 'Zebra <no-reply@localhost>')
})

test('visitors whose browser asks for another language get the language of the brand', async (t) => {
  const { app } = await openShop(t)
  await saveBrand(app, { language: 'de' })
  const read = async (path: string, accepted: string) =>
    (await app.store('GET', path, { headers: { 'accept-language': accepted } })).text
  for (const path of ['/pricing', '/models']) {
    assert.match(await read(path, 'fr-FR,fr;q=0.9'), /<html lang="de">/, path)
    assert.match(await read(path, 'fr-FR,fr;q=0.9,en;q=0.8'), /<html lang="en">/, path)
  }
  const page = await read('/pricing', 'fr')
  const address = `${app.config.urls.storefront}/pricing`
  for (const link of [
    `<link rel="canonical" href="${address}">`,
    `<link rel="alternate" hreflang="de" href="${address}">`,
    `<link rel="alternate" hreflang="en" href="${address}?lang=en">`,
  ])
    assert.ok(page.includes(link), link)

  const ada = await app.as('ada')
  await app.post('/api/auth/forgot-password', { email: ada.email })
  await createShop(app).subscribe(ada)
  const message = { name: 'Ada', email: ada.email, subject: 'support', message: 'Bonjour' }
  await app.store('POST', '/api/contact', { body: message })
  await app.settle()
  const mails = await app.mail(ada.email)
  const find = (text: string) => mails.find(({ subject }) => subject.includes(text))
  assert.ok(find('Setzen Sie Ihr Passwort zurück'))
  assert.ok(find('Wir haben Ihre Nachricht erhalten'))
  assert.match(find('Ihr Tarif Pro hat begonnen')?.text ?? '', /Bezahlt: 29,00\u00a0\$/)
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
