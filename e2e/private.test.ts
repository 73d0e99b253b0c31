// Conversations that the account does not keep: temporary ones, and those of this browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { ask, send } from './conversation.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

test('a temporary conversation is stored nowhere', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.getByRole('button', { name: 'Temporary conversation', exact: true }).click()
  await page.getByText('It is stored nowhere').waitFor()
  await assertAccessible(page, 'a temporary conversation')
  vendor.play(says('A secret answer.'))
  await ask(page, 'A secret question')
  vendor.play(says('Another secret answer.'))
  await ask(page, 'Another secret')
  assert.match(
    JSON.stringify(vendor.calls[0]?.body.messages),
    /A secret question.*A secret answer.*Another secret/,
    'the model reads the whole conversation',
  )
  assert.deepEqual((await ada.get('/api/conversations')).body.conversations, [])
  assert.doesNotMatch(await readStorage(page), /secret/i)

  await page.reload()
  await page.getByText('It is stored nowhere').waitFor()
  assert.equal(await page.getByText('A secret answer.').count(), 0)
  await page.getByRole('button', { name: 'Leave temporary conversation' }).click()
  await page.getByRole('button', { name: 'Temporary conversation', exact: true }).waitFor()
  assert.deepEqual(errors, [])
})

test('pictures of this browser reach the model late, and leave with their conversation', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, CONVERSATIONS: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  vendor.play(says('It is red.'))
  const dot = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') }
  await page.locator('input[type=file]').setInputFiles(dot)
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  await ask(page, 'Which colour?')

  await page.addInitScript(HOLD_PICTURES)
  await page.reload()
  await page.getByRole('log').getByText('(picture)').waitFor()
  await send(page, 'Are you sure?')
  await page.getByRole('log').getByText('Are you sure?').waitFor()
  await page.evaluate('releasePictures()')
  await page.getByRole('button', { name: 'Answer again' }).nth(1).waitFor()
  assert.ok(JSON.stringify(vendor.calls.at(-1)?.body).includes(PIXEL))

  await page.goto(`${app.url}/library`)
  assert.equal(await countPictures(page, ada.userId), 1)
  await page.getByRole('button', { name: 'Delete “Which colour?”' }).click()
  for (let tries = 0; (await countPictures(page, ada.userId)) > 0; tries++) {
    assert.ok(tries < 200, 'the picture is deleted')
    await page.waitForTimeout(50)
  }
  assert.deepEqual(errors, [])
})

/** Holds what the browser reads from IndexedDB until `releasePictures()`. */
const HOLD_PICTURES = `
  const released = new Promise((resolve) => { globalThis.releasePictures = resolve })
  const get = IDBObjectStore.prototype.get
  IDBObjectStore.prototype.get = function (key) {
    const held = {}
    const request = get.call(this, key)
    request.onsuccess = () => released.then(() => {
      held.result = request.result
      held.onsuccess()
    })
    return held
  }
`

function countPictures(page: Page, userId: string): Promise<number> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('latchkey.pictures.${userId}')
    opening.onerror = reject
    opening.onsuccess = () => {
      const database = opening.result
      const counting = database.transaction('pictures').objectStore('pictures').count()
      counting.onsuccess = () => {
        database.close()
        resolve(counting.result)
      }
    }
  })`)
}

test('a user who keeps conversations in the browser loses them at sign-out', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  const list = page.getByRole('region', { name: 'Conversations' })
  await signInByForm(page, app.url, ada.email)
  await list.getByRole('button', { name: 'Manage' }).click()
  await page.getByRole('radio', { name: /^Only in this browser/ }).check()
  await assertAccessible(page, 'where conversations are kept')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

  vendor.play(says('It is red.'))
  const dot = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') }
  await page.locator('input[type=file]').setInputFiles(dot)
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  await ask(page, 'Which colour?')
  await page.waitForURL('**/c/**')
  await page.getByText('Only in this browser').waitFor()
  assert.doesNotMatch(await readStorage(page), new RegExp(PIXEL.slice(0, 40)))
  await page.reload()
  await page.getByRole('img', { name: 'Attached' }).waitFor()
  vendor.play(says('It is blue.'))
  await page.getByRole('button', { name: 'Answer again' }).click()
  await page.getByText('2/2').waitFor()
  assert.ok(JSON.stringify(vendor.calls[0]?.body).includes(PIXEL), 'the vendor gets the picture')
  await page.reload()
  await page.getByRole('log').getByText('It is blue.').waitFor()
  await page.getByRole('button', { name: 'Previous answer' }).click()
  await page.getByRole('log').getByText('It is red.').waitFor()
  await list.getByRole('link', { name: 'Which colour?' }).waitFor()
  assert.deepEqual((await ada.get('/api/conversations')).body.conversations, [])
  await assertAccessible(page, 'a conversation of this browser')

  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
  assert.doesNotMatch(await readStorage(page), /colour/)
  const countDatabases = () => page.evaluate('indexedDB.databases().then((all) => all.length)')
  for (let tries = 0; (await countDatabases()) !== 0; tries++) {
    assert.ok(tries < 200, 'the pictures are deleted')
    await page.waitForTimeout(50)
  }
  assert.deepEqual(errors, [])
})

test('a service that keeps no conversations leaves them in the browser', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, CONVERSATIONS: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.getByText('Conversations stay in this browser until you sign out.').waitFor()
  vendor.play(says('It is red.'))
  await ask(page, 'Which colour?')
  await page.reload()
  await page.getByRole('log').getByText('It is red.').waitFor()
  await page
    .getByRole('region', { name: 'Conversations' })
    .getByRole('button', { name: 'Delete “Which colour?”' })
    .click()
  await page.waitForURL('**/home')
  await page.getByText('Your conversations appear here.').waitFor()
  assert.doesNotMatch(await readStorage(page), /red/)
  assert.deepEqual(errors, [])
})

test('conversations of this browser can be moved into the account', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  // As Chat and Ask stored them.
  const turns = [
    { id: 'a', role: 'user', content: 'What is a latch?' },
    { id: 'b', role: 'assistant', content: 'A kind of lock.', ending: { kind: 'complete' } },
  ]
  const chat = [{ id: 'c', updatedAt: '2026-11-01T10:00:00.000Z', turns }]
  const questions = [{ id: 'd', text: 'How long is the lease?', answer: 'Three years.' }]
  await page.evaluate(`
    localStorage.setItem('latchkey.conversations.${ada.userId}', ${JSON.stringify(JSON.stringify(chat))})
    localStorage.setItem('latchkey.questions.${ada.userId}', ${JSON.stringify(JSON.stringify(questions))})
  `)
  await page.reload()
  await page.getByText('This browser keeps 2 conversations.').waitFor()
  await assertAccessible(page, 'the offer to move conversations')
  await page.getByRole('button', { name: 'Move' }).click()
  const list = page.getByRole('region', { name: 'Conversations' })
  await list.getByRole('link', { name: 'How long is the lease?' }).waitFor()
  await list.getByRole('link', { name: 'What is a latch?' }).click()
  await page.getByRole('log').getByText('A kind of lock.').waitFor()
  assert.doesNotMatch(await readStorage(page), /latch\?/)
  assert.deepEqual(errors, [])
})

function readStorage(page: Page): Promise<string> {
  return page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
}
