// Everything that the server shows to customers, in German.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Email } from '#mail/email.ts'
import type { Locale } from '#platform/locale.ts'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { composeEmails } from '#testing/email-samples.ts'
import { requireGerman } from '#testing/english.ts'
import { createShop } from '#testing/shop.ts'
import { composeShopEmails, sendOperatorNotices } from '#testing/shop-email-samples.ts'

type Letter = Pick<Email, 'subject' | 'text' | 'html'>

const GERMAN = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' }

/** The same in both languages. */
const isName = (sentence: string) =>
  /^\S*[./]\S*$|^LK-|^\d{4}-|^\d+ %$|^(· )?(Latchkey( Basic)?( 1.1.0)?|Pro|Re|\w+_1|SMTP_URL|Name|Ada|Laptop|Google|GitHub|ci|Firefox|insufficient_funds|INV-1|lk_|ada|Basic.*|Deutsch|Code|Atom|JSON|Anthropic|Gemini|OpenAI|Windows|Linux|macOS|7-Zip|Keka|Updates|Downloads|Token|Version|CI|unzip|[0-9a-f]{64})$/.test(
    sentence,
  )

test('every email about accounts and plans is German for a German recipient', async (t) => {
  const { app } = await openShop(t)
  const english = composeEmails(app.config, 'en')
  for (const [index, [name, email]] of composeEmails(app.config, 'de').entries()) {
    const [, original] = english[index] ?? []
    requireGerman(email.subject, original?.subject ?? '', `${name}, subject`, isName)
    requireGerman(email.text, original?.text ?? '', name, isName)
    assert.match(email.html, /<html lang="de">/, name)
    assert.doesNotMatch(email.html, /Or open this address/, name)
  }
})

/** Files that compose emails. The tests above and below check the emails of each. */
const COMPOSING = [
  'admin/dead-jobs.ts',
  'billing/operator-notices.ts',
  'mail/account-emails.ts',
  'mail/billing-emails.ts',
  'mail/email.ts',
  'mail/operator.ts',
  'setup/mail.ts',
  'setup/notice.ts',
  'storefront/contact/contact.ts',
  'storefront/contact/inbox.ts',
  'storefront/orders/update-ends.ts',
  'storefront/purchases/emails.ts',
  'storefront/releases/release-emails.ts',
  'storefront/withdrawals/emails.ts',
]

test('no other file composes emails, so that each has a German version', () => {
  const source = join(import.meta.dirname, '..')
  const composing = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /(?<!\.test)\.ts$/.test(path) &&
      !path.startsWith('testing/') &&
      /\b(compose(Operator)?Email(To(User)?)?|notifyOperator)\(/.test(
        readFileSync(join(source, path), 'utf8'),
      ),
  )
  assert.deepEqual(composing.toSorted(), COMPOSING)
})

test('emails of the shop and to the operator are German', async (t) => {
  const { app } = await openShop(t)
  const { brand } = app.config
  const read = async (language: Locale) => {
    brand.replace({ ...brand.form, language })
    const shop = await composeShopEmails(app, language)
    const notices = await sendOperatorNotices(app, language)
    return [...shop, ...notices.map((email): [string, Letter] => [email.subject, email])]
  }
  const [english, german] = [await read('en'), await read('de')]
  assert.equal(german.length, english.length)
  for (const [index, [name, email]] of german.entries()) {
    const original = english[index]?.[1]
    requireGerman(email.subject, original?.subject ?? '', `${name}, subject`, isName)
    requireGerman(email.text, original?.text ?? '', name, isName)
    assert.match(email.html, /<html lang="de">/, name)
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
  requireGerman(purchase?.text ?? '', '', 'purchase', isName)
})

test('the pages of the shop are German for German visitors, and name their addresses in both languages', async (t) => {
  const { app } = await openShop(t)
  const { catalogue } = app.config
  const [product] = catalogue.products
  const seller = JSON.stringify([catalogue.products, (await app.get('/api/billing/plans')).body])
  const isTheirs = (sentence: string) => isName(sentence) || seller.includes(sentence)
  const page = `/products/${product?.slug}`
  for (const path of [
    '/',
    '/pricing?canceled=true',
    page,
    `${page}/changelog`,
    '/contact',
    '/login',
    '/login/code',
    '/checkout?tier=basic',
    '/purchased',
    '/claim',
    '/recover',
    '/withdraw',
    '/status',
    '/no-such-page',
  ]) {
    const german = await app.store('GET', path, { headers: GERMAN })
    const english = await app.store('GET', path)
    assert.match(german.text, /<html lang="de">/, path)
    assert.match(english.text, /<html lang="en">/, path)
    requireGerman(readPageText(german.text), readPageText(english.text), path, isTheirs)
  }
  const { text } = await app.store('GET', '/pricing?lang=de')
  const address = `${app.config.urls.storefront}/pricing`
  assert.ok(text.includes(`<link rel="canonical" href="${address}?lang=de">`))
  assert.ok(text.includes(`<link rel="alternate" hreflang="de" href="${address}?lang=de">`))
  assert.ok(text.includes(`<link rel="alternate" hreflang="en" href="${address}">`))
})

test('the link for the first superuser opens a German page, which names faults in German', async (t) => {
  const app = await testApp(t)
  const { pathname, search } = new URL(app.service.superuserNotice?.link ?? '')
  const read = async (headers = {}) =>
    (await app.request('GET', pathname + search, { headers })).text
  const german = await read(GERMAN)
  requireGerman(readPageText(german), readPageText(await read()), pathname, isName)
  const token = new URLSearchParams(search).get('token') ?? ''
  for (const [fields, fault] of [
    [{ email: 'root', password: PASSWORD }, 'Geben Sie eine gültige E-Mail-Adresse ein.'],
    [{ email: 'root@example.com', password: 'short' }, 'Das Passwort braucht 8 bis 128 Zeichen.'],
  ] as const) {
    const body = new URLSearchParams({ token, ...fields })
    const refused = await app.request('POST', '/setup', { body, headers: GERMAN })
    assert.ok(refused.text.includes(`role="alert">${fault}<`), refused.text)
  }
  const again = await app.request('GET', '/setup?token=spent', { headers: GERMAN })
  assert.match(again.text, /schon verwendet oder ist abgelaufen/)
})

test('the page of models is German, with German numbers', async (t) => {
  const { store } = await openShop(t)
  const path = '/models?q=openai'
  const [german, english] = [
    await store('GET', path, { headers: GERMAN }),
    await store('GET', path),
  ]
  const [first = '', ...others] = german.text.split(/<tbody>.*?<\/tbody>/s)
  assert.match(
    german.text,
    /gpt-6-luna<\/code><\/td><td>Chat<\/td><td>1\.050\.000<\/td><td>[\d,]+\s\$/,
  )
  requireGerman(readPageText(first + others.join('')), readPageText(english.text), path, isName)
})

test('the frame of the documentation is German, and says that its texts are English', async (t) => {
  const { store } = await openShop(t)
  const english = /<(\w+)[^>]* lang="en".*?<\/\1>/gs
  for (const path of ['/docs', '/docs/quickstart', '/docs?q=budget', '/docs?q=xyzzy']) {
    const [german, original] = [
      await store('GET', path, { headers: GERMAN }),
      await store('GET', path),
    ]
    assert.match(german.text, /<html lang="de">/, path)
    assert.match(german.text, />Die Dokumentation ist auf Englisch\.</, path)
    assert.doesNotMatch(original.text, /Die Dokumentation ist/, path)
    const titles = new Set(
      [...original.text.matchAll(/<a href="(?:\/docs\/|#)[^>]*>([^<]+)/g)].map(
        ([, title]) => title,
      ),
    )
    // The title and the description for search engines are of the text.
    const [, frame = ''] = german.text.split('<body>')
    requireGerman(
      readPageText(`<title>${frame.replaceAll(english, '\n')}`),
      readPageText(original.text),
      path,
      (sentence) => isName(sentence) || titles.has(sentence),
    )
  }
  const { text } = await store('GET', '/docs/quickstart', { headers: GERMAN })
  assert.doesNotMatch(text, /hreflang/, 'search engines know the English page only')
})

test('the page of purchases is German for a German buyer, with machines, tokens and notices', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const [{ id: purchase }] = (await ada.get('/api/purchases')).body
  const [license_key] =
    /LK-[0-9A-Z]{4}(?:-[0-9A-Z]{4})+/.exec((await ada.get('/dashboard')).text) ?? []
  const machine = { license_key, fingerprint: 'one', platform: 'linux' }
  await shop.store('POST', '/api/license/activate', { body: machine })
  await ada.request('POST', `/api/purchases/${purchase}/tokens`, { body: { name: 'ci', days: 30 } })
  assert.equal((await ada.download()).status, 200)
  await shop.sell(ada, 'pro')

  const read = async (path: string, headers = {}) =>
    readPageText((await ada.get(path, headers)).text)
  const query = '/dashboard?success=true&session_id=cs_none'
  for (const path of ['/dashboard', query]) {
    const german = await read(path, GERMAN)
    assert.match(german, /Geräte \(1 von 3\)/)
    requireGerman(german, await read(path), path, isName)
  }
  const form = new URLSearchParams({ purchase, name: '', days: '30' })
  const refused = await ada.request('POST', '/dashboard/tokens', {
    body: form,
    headers: { ...GERMAN, 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.match(refused.text, /role="alert"><p>Geben Sie dem Token eine Bezeichnung/)
})

test('the switch in the footer changes the language of the browser and of the account', async (t) => {
  const { app, buyer } = await openShop(t)
  const ada = await buyer('ada')
  const shop = app.config.urls.storefront
  const press = (referer: string) =>
    ada.request('POST', '/language', {
      body: new URLSearchParams({ lang: 'de' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', referer },
    })
  const switched = await press(`${shop}/pricing?code=A&lang=en`)
  assert.deepEqual([switched.status, switched.headers.get('location')], [303, '/pricing?code=A'])
  assert.match(switched.headers.get('set-cookie') ?? '', /^lang=de;/)
  assert.equal((await app.as('ada').get('/api/users/me')).body.locale, 'de')
  assert.match((await ada.get('/pricing')).text, /<html lang="de">/)
  for (const referer of ['https://evil.example/', `${shop}//evil.example/`])
    assert.doesNotMatch((await press(referer)).headers.get('location') ?? '', /^(https?:|\/\/)/)
})

/** Returns what people read on a page, a line for each element, without release notes and files. */
function readPageText(page: string): string {
  const labels = [...page.matchAll(/(?:aria-label|alt|placeholder)="([^"]+)"/g)].map(
    ([, label]) => label,
  )
  const body = page
    .slice(page.indexOf('<title>'))
    .replaceAll(/<(script|style)\b.*?<\/\1>|<article class="release.*?<\/article>/gs, '')
    .replaceAll(/<div class="tree">.*?<\/div>/gs, '')
    .replaceAll(/<summary>(Releases|Versionen)<\/summary><ul>.*?<\/ul>/gs, '')
    .replaceAll(/<[^>]+>/g, '\n')
  return [body, ...labels].join('\n').replaceAll('&amp;', '&')
}

const readSubjects = async (app: TestApp, name: string) =>
  (await app.mail(`${name}@example.com`)).map(({ subject }) => subject)
