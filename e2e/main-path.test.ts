// The main path of a new user through both apps, on the sandbox.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { openArchive } from '../src/cli/tour/archive.ts'
import { assertAccessible, openBrowser, visit } from './browser.ts'
import { ask } from './conversation.ts'

const PASSWORD = 'seven blue lanterns'

test('a visitor signs up, subscribes, asks a document and buys the product', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, errors } = await visit(browser, { acceptDownloads: true })
  const email = 'stranger@example.com'

  await t.test('signs up and verifies the address from the mailbox', async () => {
    await page.goto(home)
    await assertAccessible(page, 'home')
    await page.getByRole('link', { name: 'Create an account' }).first().click()
    await assertAccessible(page, 'register')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: /create|sign up/i }).click()
    await page.waitForURL(/home|login|verify/)

    await page.goto(`${home}/sandbox/mail`)
    await assertAccessible(page, 'mailbox')
    const [mail] = await app.mail(email)
    const link = mail?.links.find((candidate) => candidate.includes('/verify-email'))
    assert.ok(link, 'the mail has a link')
    await page.goto(link)
    await page
      .getByText(/verified/i)
      .first()
      .waitFor()
  })

  await t.test('signs in on another device', async () => {
    const other = await visit(browser)
    await other.page.goto(`${home}/login`)
    await assertAccessible(other.page, 'login')
    await other.page.getByLabel('Email').fill(email)
    await other.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await other.page.waitForURL('**/home')
    await assertAccessible(other.page, 'dashboard')
    assert.deepEqual(other.errors, [])
    await other.context.close()
  })

  await t.test('subscribes to Pro on the hosted page', async () => {
    await page.goto(`${home}/pricing`)
    await assertAccessible(page, 'pricing')
    await page.getByRole('button', { name: /pro/i }).first().click()
    await page.waitForURL('**/sandbox/pay/**')
    await assertAccessible(page, 'hosted payment')
    await page.getByRole('button', { name: /pay|subscribe/i }).click()
    await page.waitForURL('**/dashboard?success=true')
    await page
      .getByText(/\bPro\b/)
      .first()
      .waitFor()
    // Shows the remaining allowance, never the vendor's cost.
    await page.getByRole('meter', { name: 'Allowance left' }).waitFor()
    assert.equal(await page.getByText(/model cost/i).count(), 0)
  })

  await t.test('uploads a document and gets an answer with its source', async () => {
    const path = join(app.dataDir, 'bees.md')
    writeFileSync(
      path,
      '# Bees\n\nThe colony on the roof of the town hall made forty-one kilograms of honey in 2025. The keeper is called Imre Vass.\n',
    )
    await page.goto(`${home}/library`)
    await assertAccessible(page, 'the library')
    await page.locator('input[type=file]').first().setInputFiles(path)
    await page.getByText('bees.md').first().waitFor()
    await page
      .getByText(/1 (chunk|passage|piece)/i)
      .first()
      .waitFor()

    await page.goto(`${home}/home`)
    await ask(page, 'How much honey did the colony on the roof of the town hall make?')
    await page
      .getByRole('log')
      .getByText(/forty-one kilograms/)
      .first()
      .waitFor()
    await assertAccessible(page, 'an answer with its source')
  })

  await t.test('chats', async () => {
    await page.goto(`${home}/home`)
    await ask(page, 'Good morning')
    await page
      .getByText(/sandbox model/i)
      .first()
      .waitFor()
    await assertAccessible(page, 'a conversation')
  })

  await t.test('creates a working API key', async () => {
    await page.goto(`${home}/api-keys`)
    await page
      .getByRole('button', { name: /new key|create/i })
      .first()
      .click()
    await page.getByLabel('Name').fill('walk')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /make|create/i })
      .click()
    const copy = page.getByRole('dialog').getByRole('button', { name: 'Copy key' })
    await copy.waitFor()
    assert.equal(
      await copy.evaluate((button) => button.matches(':focus')),
      true,
      'the keyboard stays in the dialog',
    )
    const key = await page
      .getByText(/^lk_\w{30,}/)
      .first()
      .innerText()
    const reply = await app.get('/v1/models', {
      headers: { authorization: `Bearer ${key.trim()}` },
    })
    assert.equal(reply.status, 200)
    await assertAccessible(page, 'API keys')
    await page.getByLabel('I’ve saved this key').check()
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: 'Actions for walk' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('I’ve saved this key').waitFor()
    assert.equal(
      await copy.evaluate((button) => button.matches(':focus')),
      true,
      'also when a key was rotated',
    )
    const next = await page
      .getByText(/^lk_\w{30,}/)
      .first()
      .innerText()
    assert.notEqual(next, key)
    for (const each of [key, next]) {
      assert.equal(
        (await app.get('/v1/models', { headers: { authorization: `Bearer ${each.trim()}` } }))
          .status,
        200,
      )
    }
    await page.getByLabel('I’ve saved this key').check()
    await page.getByRole('button', { name: 'Done' }).click()
  })

  for (const path of ['usage', 'billing', 'account']) {
    await t.test(`opens ${path}`, async () => {
      await page.goto(`${home}/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await assertAccessible(page, path)
    })
  }

  await t.test('buys the product with the same account and opens the ZIP', async () => {
    await page.goto(app.config.urls.storefront)
    await assertAccessible(page, 'storefront')
    await page.getByRole('link', { name: 'Buy Basic' }).click()
    await page.waitForURL('**/products/basic#buy')
    await page.getByRole('checkbox', { name: /I request immediate delivery/ }).check()
    await page.getByRole('button', { name: 'Buy Basic' }).click()
    await page.waitForURL('**/checkout?**')
    assert.ok(await page.getByRole('checkbox', { name: /I request immediate/ }).isChecked())
    await page.getByRole('main').getByRole('link', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/login**')
    await assertAccessible(page, 'storefront login')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: /sign in/i }).click()
    await page.waitForURL('**/sandbox/pay/**')
    await page.getByRole('button', { name: /pay/i }).click()
    await page.waitForURL('**/dashboard?success=true**')
    await assertAccessible(page, 'storefront dashboard')

    const download = page.waitForEvent('download')
    await page
      .getByRole('link', { name: /download/i })
      .first()
      .click()
    const file = await download
    assert.match(file.suggestedFilename(), /^latchkey-basic-[0-9A-Z]{8}\.zip$/)
    await page.getByText('4 of 5 left').waitFor()
    await page
      .getByRole('link', { name: /Ready in \d+ s/ })
      .first()
      .waitFor()
    const license = (await app.mail(email))
      .map((mail) => /LK-[0-9A-Z-]+/.exec(mail.text)?.[0])
      .find((found) => found)
    assert.ok(license, 'the key is in the mail')
    const { files } = await openArchive(await readAll(await file.createReadStream()), license)
    assert.ok(files.length > 0)
  })

  assert.deepEqual(errors, [])
})

test('unknown addresses and signed-out visitors get a useful page', async (t) => {
  const app = await testApp(t, { userApp: true, env: { RATE_LIMIT_GENERAL: '1000/60' } })
  const unknown = await app.get('/api/nothing')
  assert.deepEqual(
    [unknown.status, unknown.body],
    [404, { detail: 'Not Found', code: 'not_found' }],
  )
  assert.equal(
    unknown.headers.get('ratelimit-remaining'),
    '999',
    'unknown addresses count towards the rate limit',
  )
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, errors } = await visit(browser, {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  })
  await page.goto(`${home}/no-such-page`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await assertAccessible(page, 'not found')
  await page.goto(`${home}/library`)
  await page.waitForURL('**/login**')
  await assertAccessible(page, 'login on a phone in the dark')
  await page.goto(`${app.config.urls.storefront}/no-such-page`)
  await assertAccessible(page, 'the storefront’s not found')
  await page.goto(`${app.config.urls.storefront}/contact`)
  await assertAccessible(page, 'contact')
  assert.deepEqual(errors, [])
})

async function readAll(stream: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
