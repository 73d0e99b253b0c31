// Everything that the server shows to customers, in German.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, type TestApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { composeEmails } from '#testing/email-samples.ts'
import { requireGerman } from '#testing/english.ts'
import { createShop } from '#testing/shop.ts'

const GERMAN = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' }

/** The same in both languages. */
const NAMES =
  /^(Latchkey|Pro|Ada|Laptop|Google|GitHub|ci|Firefox|insufficient_funds|INV-1|lk_|ada|Basic.*)$/

test('every email about accounts and plans is German for a German recipient', async (t) => {
  const { app } = await openShop(t)
  const english = composeEmails(app.config, 'en')
  for (const [index, [name, email]] of composeEmails(app.config, 'de').entries()) {
    const [, original] = english[index] ?? []
    requireGerman(email.subject, original?.subject ?? '', `${name}, subject`, NAMES)
    requireGerman(email.text, original?.text ?? '', name, NAMES)
    assert.match(email.html, /<html lang="de">/, name)
    assert.doesNotMatch(email.html, /Or open this address/, name)
  }
})

test('an account has the language of its registration, and its owner can change it', async (t) => {
  const { app } = await openShop(t)
  const body = { email: 'ada@example.com', password: PASSWORD }
  const registered = await app.request('POST', '/api/auth/register', { body, headers: GERMAN })
  assert.equal(registered.body.locale, 'de')
  assert.deepEqual(await readSubjects(app, 'ada'), [
    'Willkommen bei Latchkey: Bestätigen Sie Ihre E-Mail-Adresse',
  ])

  const ada = await app.as('ada')
  assert.equal((await ada.patch('/api/users/me', { locale: 'en' })).body.locale, 'en')
  await app.post('/api/auth/forgot-password', { email: ada.email })
  assert.ok((await readSubjects(app, 'ada')).includes('Reset your password'))
  assert.equal((await ada.patch('/api/users/me', { locale: 'fr' })).status, 422)
  assert.equal((await ada.patch('/api/users/me', { locale: null })).body.locale, null)
})

test('a subscriber reads amounts, dates and plans in German', async (t) => {
  const { app } = await openShop(t)
  const ada = await app.as('ada')
  await ada.patch('/api/users/me', { locale: 'de' })
  await createShop(app).subscribe(ada)
  await app.settle()
  const mail = (await app.mail(ada.email)).find(({ subject }) => subject.includes('begonnen'))
  assert.equal(mail?.subject, 'Ihr Tarif Pro hat begonnen')
  assert.match(mail?.text ?? '', /\nTarif: Pro\nBezahlt: 29,00\u00a0\$\nRechnung: /)
})

test('a guest and a visitor of the contact form get emails in the language of their browser', async (t) => {
  const { app } = await openShop(t)
  const shop = createShop(app)
  const form = { tier: 'basic', email: 'gast@example.com' }
  const checkout = await app.store('POST', '/checkout', { body: form, headers: GERMAN })
  await shop.pay(checkout.headers.get('location') ?? '', undefined, { email: form.email })
  const message = { name: 'G', email: 'gast@example.com', subject: 'support', message: 'Hallo' }
  await app.store('POST', '/api/contact', { body: message, headers: GERMAN })
  await app.settle()
  assert.deepEqual((await readSubjects(app, 'gast')).toSorted(), [
    'Ihre Lizenz für Latchkey Basic',
    'Wir haben Ihre Nachricht erhalten',
  ])
  const purchase = (await app.mail('gast@example.com')).find(({ subject }) =>
    subject.startsWith('Ihre Lizenz'),
  )
  requireGerman(purchase?.text ?? '', '', 'purchase', NAMES)
})

const readSubjects = async (app: TestApp, name: string) =>
  (await app.mail(`${name}@example.com`)).map(({ subject }) => subject)
