// Conversations that the account keeps: a stranger’s first one, on two devices, in two tabs, found
// again and shared.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, testApp } from '#testing/app.ts'
import { holds, mockVendor, says } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { ask, send, storeConversation } from './conversation.ts'

const PASSWORD = 'seven blue lanterns'

test('a stranger gets a first answer with its sentence before paying', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const email = 'stranger@example.com'
  const { page, errors } = await visit(await openBrowser(t))
  const sample = page.getByRole('button', { name: 'Try with a sample document' })

  await page.goto(`${home}/register`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: /create|sign up/i }).click()
  await page.waitForURL('**/home')
  await page.getByText('kept encrypted in your account').waitFor()
  await assertAccessible(page, 'the first page of a stranger')

  // The sample needs no verified address, but an answer costs money.
  await sample.click()
  await page.getByText('Confirm your email address to get your first answer.').waitFor()
  await assertAccessible(page, 'an answer that needs a verified address')

  const link = (await app.mail(email))[0]?.links.find((one) => one.includes('/verify-email'))
  assert.ok(link, 'the mail has a link')
  const mailbox = await page.context().newPage()
  await mailbox.goto(link)
  await mailbox
    .getByText(/verified/i)
    .first()
    .waitFor()
  await mailbox.close()

  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Copy answer' }).waitFor()
  const mark = page.getByRole('button', { name: 'Source 1: Workshop lease.pdf' }).first()
  await mark.hover()
  await page.getByRole('tooltip').getByText('The deposit is 3,450 euros').waitFor()
  await mark.click()
  await page
    .getByRole('complementary', { name: 'Source' })
    .locator('[data-highlight]')
    .first()
    .waitFor()
  await page.getByRole('img', { name: 'Page 3 of Workshop lease.pdf' }).waitFor()
  await assertAccessible(page, 'a source beside its answer')
  assert.equal((await app.get('/api/billing/plans')).status, 200)
  assert.deepEqual(errors, [])
})

test('an answer continues without its page and is rejoined on a second device', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const browser = await openBrowser(t)
  const first = await visit(browser)
  const second = await visit(browser, { viewport: { width: 390, height: 844 } })
  const gate = Promise.withResolvers<void>()

  await signInByForm(first.page, app.url, ada.email)
  vendor.play(holds('One two three four five six.', 3, gate.promise), says('Counting'))
  await send(first.page, 'Count to six')
  await first.page.getByText('One two three').waitFor()
  const address = first.page.url()

  await signInByForm(second.page, app.url, ada.email)
  await second.page.getByRole('button', { name: 'Open menu' }).click()
  await second.page.getByRole('img', { name: 'Being answered' }).waitFor()
  await second.page.getByRole('region', { name: 'Conversations' }).getByRole('link').click()
  await second.page.getByText('One two three').waitFor()
  assert.equal(second.page.url(), address)
  await second.page.getByRole('button', { name: 'Stop' }).waitFor()

  await first.page.reload()
  await first.page.getByText('One two three').waitFor()
  await first.context.close()
  gate.resolve()
  await second.page.getByText('One two three four five six.').waitFor()
  await second.page.getByRole('button', { name: 'Answer again' }).waitFor()
  await second.page.reload()
  await second.page.getByText('One two three four five six.').waitFor()
  assert.equal(await second.page.getByRole('article').count(), 2)

  // A third device asks; the open page learns it from its list.
  vendor.play(says('Seven.'))
  await ada.post(`/api/conversations/${address.split('/').at(-1)}/messages`, {
    parent_id: await readLeaf(ada, address),
    parts: [{ type: 'text', text: 'And then?' }],
  })
  await second.page.getByRole('log').getByText('Seven.').waitFor({ timeout: 40_000 })
  assert.deepEqual([...first.errors, ...second.errors], [])
})

test('an answer ends when it is stopped, and can be continued', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  await signInByForm(page, app.url, ada.email)
  vendor.play(holds('One two three four.', 2, gate.promise), says('Three four.'))
  await send(page, 'Count to four')
  await page.getByText('One two').waitFor()
  await page.getByRole('textbox', { name: 'Message' }).press('Escape')
  await page.getByText('You stopped this answer.').waitFor()
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    'Message',
    'the message field keeps the focus',
  )
  vendor.play(says('Three four.'))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Three four.').waitFor()
  const { messages } = vendor.calls[0]?.body ?? {}
  assert.match(JSON.stringify(messages), /Count to four.*One two.*Continue exactly where/)
  assert.deepEqual(errors, [])
})

test('two tabs on one conversation keep the questions of both', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, context, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  vendor.play(says('Answer zero'))
  await ask(page, 'first')
  const other = await context.newPage()
  await other.goto(page.url())
  await other.getByRole('log').getByText('Answer zero').waitFor()

  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  vendor.play(holds('Answer from one', 2, gate.promise))
  await send(page, 'from one')
  await page.getByRole('log').getByText('Answer from').waitFor()
  // The other tab follows the same answer, and must wait for it.
  await other.getByRole('log').getByText('Answer from').waitFor()
  await other.getByRole('button', { name: 'Stop' }).waitFor()
  gate.resolve()
  await other.getByRole('log').getByText('Answer from one').waitFor()

  vendor.play(says('Answer from two'))
  await ask(other, 'from two')
  const texts = ['first', 'Answer zero', 'from one', 'Answer from one', 'from two']
  for (const tab of [page, other]) {
    // A tab behind another looks for news only now and then.
    await tab.bringToFront()
    for (const text of [...texts, 'Answer from two'])
      await tab.getByRole('log').getByText(text, { exact: true }).waitFor()
    assert.equal(await tab.getByRole('article').count(), 6)
  }
  assert.deepEqual(errors, [])
})

test('an answer that the page finds stored before its last event becomes a branch', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, SANDBOX: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  vendor.play(says('It is red.'))
  await ask(page, 'Which colour?')
  const id = page.url().split('/').at(-1) ?? ''

  await page.route('**/api/conversations/*/messages', async (route) => {
    const response = await route.fetch()
    // The event [DONE] waits until the page has loaded what the service stored. The page may cancel
    // its first load for a newer one, so only a finished request counts.
    const loaded = page.waitForEvent('requestfinished', (request) =>
      request.url().endsWith(`/api/conversations/${id}`),
    )
    await channel.evaluate((open, changed) => open.postMessage(changed), id)
    await loaded
    await page.evaluate('new Promise(requestAnimationFrame)')
    await route.fulfill({ response })
  })
  const other = await page.context().newPage()
  await other.goto(`${app.url}/pricing`)
  const channel = await other.evaluateHandle(() => new BroadcastChannel('latchkey.conversations'))
  vendor.play(says('It is blue.'))
  await page.getByRole('button', { name: 'Answer again' }).click()
  await page.getByText('It is blue.').waitFor()
  await page.getByText('2/2').waitFor()
  assert.deepEqual(errors, [])
})

test('an edited question and another answer are branches', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, ...vendor.env.anthropic, SANDBOX: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  vendor.play(says('It is red.'))
  await ask(page, 'Which colour?')

  vendor.play(says('It is blue.'))
  await page.getByRole('button', { name: 'Answer again' }).click()
  await page.getByText('It is blue.').waitFor()
  await page.getByText('2/2').waitFor()
  await page.getByRole('button', { name: 'Previous answer' }).click()
  await page.getByText('It is red.').waitFor()
  await page.getByText('1/2').waitFor()

  vendor.play(says('It is green.'))
  await page.getByRole('button', { name: 'Answer with another model' }).click()
  await page.getByRole('combobox', { name: 'Answer with another model' }).fill('claude')
  await page.keyboard.press('Enter')
  await page.getByText('It is green.').waitFor()
  assert.match(vendor.calls[0]?.path ?? '', /messages/, 'Anthropic answers')
  await page.getByText('3/3').waitFor()

  vendor.play(says('It is tall.'))
  await page.getByRole('textbox', { name: 'Message' }).press('ArrowUp')
  const edited = page.getByRole('textbox', { name: 'Edit your question' })
  assert.equal(await edited.inputValue(), 'Which colour?')
  await edited.fill('Which size?')
  await edited.press('Enter')
  await page.getByText('It is tall.').waitFor()
  await page.reload()
  await page.getByText('It is tall.').waitFor()
  await page.getByText('Which size?').first().hover()
  await page.getByRole('button', { name: 'Previous question' }).click()
  await page.getByText('It is green.').waitFor()
  await assertAccessible(page, 'branches')
  assert.deepEqual(errors, [])
})

test('a conversation is found by its words, renamed, pinned, archived and deleted', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('Oaks and walnuts.'))
  const questions = [
    'Which trees grow slowly?',
    'Which birds stay in winter?',
    'Who made the first violin?',
  ]
  for (const title of questions) await storeConversation(ada, title, { title })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  const list = page.getByRole('region', { name: 'Conversations' })
  await list.getByRole('link').nth(2).waitFor()

  await t.test('the palette finds words of questions and answers', async () => {
    await page.keyboard.press('Control+K')
    await page.getByRole('combobox', { name: 'Search' }).fill('violi')
    const found = page.getByRole('dialog').getByText('Who made the first violin?').first()
    await found.waitFor()
    await found.click()
    await page.getByRole('heading', { level: 1, name: 'Who made the first violin?' }).waitFor()
  })

  await t.test('the palette finds one of a year of conversations', async () => {
    await importYear(ada, app.platform.clock.now())
    await page.keyboard.press('Control+K')
    await page.getByRole('combobox', { name: 'Search' }).fill('harbour 300')
    const found = page.getByRole('dialog').getByText('The harbour of day 300').first()
    await found.waitFor()
    await found.click()
    await page.getByRole('log').getByText('What does the harbour of day 300 look like?').waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Who made the first violin?' }).waitFor()
  })

  await t.test('renames and pins', async () => {
    await page
      .getByRole('main')
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Violins')
    await page.keyboard.press('Enter')
    await list.getByRole('link', { name: 'Violins' }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Actions for “Violins”' }).click()
    await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
    await list
      .getByRole('region', { name: 'Pinned' })
      .getByRole('link', { name: 'Violins' })
      .waitFor()
    await assertAccessible(page, 'a pinned conversation')
  })

  await t.test('archives and deletes', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Actions for “Violins”' }).click()
    await page.getByRole('menuitem', { name: 'Archive', exact: true }).click()
    await list.getByRole('link', { name: 'Violins' }).waitFor({ state: 'detached' })
    await list.getByRole('button', { name: 'Archive' }).click()
    await list.getByRole('link', { name: 'Violins' }).waitFor()

    await page.getByRole('main').getByRole('button', { name: 'Actions for “Violins”' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete “Violins”?' })
    await assertAccessible(page, 'the question before a deletion')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL('**/home')
    await list.getByText('The archive is empty.').waitFor()
  })
  assert.deepEqual(errors, [])
})

test('a shared link shows a frozen copy until its owner ends it', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const bob = await app.as('bob', { tier: 'pro' })
  vendor.play(says('Nine in the morning.'))
  const id = await storeConversation(ada, 'When does the ferry leave?')
  const browser = await openBrowser(t)
  const { page, errors } = await visit(browser, { permissions: ['clipboard-write'] })
  await signInByForm(page, app.config.urls.base, ada.email)
  await page.goto(`${app.config.urls.base}/c/${id}`)
  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog', { name: /^Share/ })
  await assertAccessible(page, 'the dialog that shares')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue()
  await dialog.getByRole('button', { name: 'Close' }).click()
  vendor.play(says('At noon.'))
  await ask(page, 'And on Sundays?')

  const reader = await visit(browser, { viewport: { width: 390, height: 844 } })
  await reader.page.goto(link)
  await reader.page.getByText('Nine in the morning.').waitFor()
  assert.equal(await reader.page.getByText('At noon.').count(), 0, 'newer messages are private')
  await assertAccessible(reader.page, 'a shared conversation')

  await page.getByRole('button', { name: 'Share' }).click()
  await dialog.getByRole('button', { name: 'Update link' }).click()
  await dialog.getByText('The link shows all messages.').waitFor()
  await reader.page.reload()
  await reader.page.getByText('At noon.').waitFor()

  await signInByForm(reader.page, app.config.urls.base, bob.email)
  await reader.page.goto(link)
  await reader.page.getByRole('button', { name: 'Continue as a copy' }).click()
  await reader.page.waitForURL('**/c/**')
  await reader.page.getByText('Nine in the morning.').waitFor()
  assert.notEqual(reader.page.url(), page.url())

  await dialog.getByRole('button', { name: 'End link' }).click()
  await dialog.getByRole('button', { name: 'Create link' }).waitFor()
  await reader.page.goto(link)
  await reader.page.getByRole('heading', { name: 'Link ended' }).waitFor()
  await assertAccessible(reader.page, 'an ended link')
  assert.deepEqual([...errors, ...reader.errors], [])
})

async function readLeaf(client: Client, address: string): Promise<string> {
  const id = address.split('/').at(-1)
  return (await client.get(`/api/conversations/${id}`)).body.conversation.leaf_id
}

/** One conversation a day, up to yesterday. */
async function importYear(client: Client, now: string): Promise<void> {
  const conversations = Array.from({ length: 365 }, (_, at) => {
    const created_at = new Date(Date.parse(now) - (365 - at) * DAY_MS).toISOString()
    const ask = `What does the harbour of day ${at} look like?`
    const messages = [
      { id: 'q', parent_id: null, role: 'user', parts: [{ type: 'text', text: ask }] },
      { id: 'a', parent_id: 'q', role: 'assistant', parts: [{ type: 'text', text: 'Calm.' }] },
    ]
    const title = `The harbour of day ${at}`
    return { id: `day-${at}`, title, created_at, updated_at: created_at, messages }
  })
  const { status, text } = await client.post('/api/conversations/import', { conversations })
  assert.equal(status, 200, text)
}
