// The chat in a browser, with vendors that answer, fail, are slow or lose the connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { cuts, event, mockVendor, refuses, type Step, says, streams } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const PHONE = { width: 390, height: 844 }

test('the chat uses the chosen model and shows how every answer ended', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: {
      ...vendor.env.anthropic,
      ...vendor.env.openai,
      LLM_VENDORS: 'anthropic,openai,gemini',
      SANDBOX: 'off',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  const chat = `${app.config.urls.base}/chat`
  const provider = page.getByRole('combobox', { name: 'Provider' })
  const stop = page.getByRole('button', { name: 'Stop' })
  await signInByForm(page, app.config.urls.base, ada.email)

  await t.test('the selected provider answers', async () => {
    await page.goto(chat)
    await provider.waitFor()
    assert.match(await provider.inputValue(), /anthropic/i, 'the service’s own default')

    for (const [choice, path] of [
      [/^openai$/i, '/v1/chat/completions'],
      [/^anthropic$/i, '/v1/messages'],
    ] as const) {
      vendor.play(says('Hello'))
      await provider.click()
      await page.getByRole('option', { name: choice }).click()
      await ask(page, `Who is at ${path}?`)
      assert.match(await provider.inputValue(), choice)
      assert.deepEqual(
        vendor.calls.map((call) => call.path),
        [path],
      )
    }
  })

  await t.test('a provider that is not set up cannot be chosen, by hand or by a link', async () => {
    await page.goto(`${chat}?provider=gemini&model=gemini-9`)
    await provider.waitFor()
    assert.match(await provider.inputValue(), /anthropic/i)
    await provider.click()
    const gemini = page.getByRole('option', { name: /gemini/i })
    assert.equal(await gemini.getAttribute('data-combobox-disabled'), 'true')
    await page.keyboard.press('Escape')
    vendor.play(says('Hello'))
    await ask(page, 'Who are you?')
    assert.equal(vendor.calls[0]?.path, '/v1/messages')
    assert.notEqual(vendor.calls[0]?.body.model, 'gemini-9')
  })

  await t.test(
    'an answer shows that it reached the length limit and can be continued',
    async () => {
      await page.goto(`${chat}?provider=openai`)
      vendor.play(streamsAnswer('One, two, thr', 'length'))
      await ask(page, 'Count to five')
      await page.getByText('Stopped at the length limit.').waitFor()
      const asked = vendor.calls[0]?.body
      assert.equal(
        asked.max_completion_tokens ?? asked.max_tokens,
        16_384,
        'the service’s limit, when the reader sets none',
      )

      vendor.play(streamsAnswer('ee, four, five.', 'stop'))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('One, two, three, four, five.').waitFor()
      assert.equal(await page.getByText('Stopped at the length limit.').count(), 0)
      assert.equal(await page.getByRole('article').count(), 2, 'one question, one answer')
      const messages: { role: string; content: string }[] = vendor.calls[0]?.body.messages
      assert.deepEqual(
        messages.map(({ role }) => role),
        ['user', 'assistant', 'user'],
      )
      assert.equal(messages[1]?.content, 'One, two, thr')

      await page.reload()
      await page.getByText('One, two, three, four, five.').waitFor()
      assert.equal(
        await page.getByText('Go on exactly').count(),
        0,
        'the hidden message is not shown',
      )
    },
  )

  await t.test('a failure shows what to do, with the request ID', async () => {
    await page.goto(`${chat}?provider=openai`)
    vendor.play(refuses(500))
    await ask(page, 'Hello?')
    const alert = page.getByRole('alert').filter({ hasText: 'The model' })
    assert.match(
      await alert.innerText(),
      /^The model did not respond\. Try again, or switch to anthropic\. \(Request \S+\)$/i,
    )
    await assertAccessible(page, 'a failed answer')

    vendor.play(cuts('The first half'))
    await ask(page, 'And now?')
    assert.match(
      await alert.last().innerText(),
      /^The model stopped in the middle of its answer\. Try again, or switch to anthropic\. \(Request \S+\)/i,
    )
    await page.getByRole('button', { name: 'Continue' }).waitFor()
  })

  await t.test('the message box has the focus after Stop by mouse or keyboard', async () => {
    for (const press of ['by mouse', 'by keyboard']) {
      await page.goto(chat)
      vendor.play(says('word '.repeat(400), { gapMs: 25 }))
      await write(page, 'Talk to me')
      await page.getByText('word word').first().waitFor()
      if (press === 'by mouse') await stop.click()
      else {
        await stop.focus()
        await page.keyboard.press('Enter')
      }
      await page.getByText('You stopped this answer.').waitFor()
      assert.equal(await readFocusedName(page), 'Message', press)
      await page.keyboard.type('x')
      assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'x', press)
    }
  })

  await t.test('the message box fits its text, also after a phone was turned', async () => {
    const box = page.getByRole('textbox', { name: 'Message' })
    const heightOf = async () => (await box.boundingBox())?.height ?? 0
    await page.goto(chat)
    for (const size of [PHONE, { width: PHONE.height, height: PHONE.width }, PHONE]) {
      await page.setViewportSize(size)
      await page.waitForTimeout(200)
      assert.ok((await heightOf()) < 60, `${await heightOf()} px at ${size.width} px`)
    }
    await box.fill('line\n'.repeat(5))
    const five = await heightOf()
    assert.ok(five > 120, `five lines are ${five} px high`)
    await box.fill('line\n'.repeat(40))
    assert.ok((await heightOf()) < 260, 'beyond eight lines it scrolls')
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  await t.test('an answer shows that it stopped when the user left the page', async () => {
    await page.goto(chat)
    vendor.play(says('word '.repeat(400), { gapMs: 25 }))
    await write(page, 'Talk to me again')
    await page.getByText('word word').first().waitFor()
    await page.getByRole('link', { name: 'Documents' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor()
    await page.goBack()
    await page.getByText('This answer stopped when you left the page.').waitFor()
    assert.equal(await page.getByText('You stopped this answer.').count(), 0)
  })

  await t.test('a conversation deleted during its answer stays deleted', async () => {
    const drawer = page.getByRole('dialog', { name: 'Conversations' })
    const deletions: [string, () => Promise<void>][] = [
      [
        'its delete button',
        () => drawer.getByRole('button', { name: 'Delete “Talk to me for a while”' }).click(),
      ],
      ['all of them', () => drawer.getByRole('button', { name: 'Delete all' }).click()],
    ]
    for (const [how, remove] of deletions) {
      await page.goto(chat)
      vendor.play(says('word '.repeat(400), { gapMs: 25 }))
      await write(page, 'Talk to me for a while')
      await page.getByText('word word').first().waitFor()
      await page.getByRole('button', { name: 'Conversations' }).click()
      await remove()
      await page.getByText('word word').waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await page.getByRole('heading', { name: 'What would you like to know?' }).waitFor()

      await page.reload()
      await page.getByRole('button', { name: 'Conversations' }).click()
      await (how === 'all of them'
        ? drawer.getByText('No conversations yet')
        : drawer.getByRole('button', { name: 'Delete all' })
      ).waitFor()
      assert.equal(await drawer.getByText('Talk to me for a while').count(), 0, how)
    }
  })

  await t.test(
    'a closed tab keeps the conversation and marks the answer as incomplete',
    async () => {
      await page.goto(chat)
      vendor.play(says('word '.repeat(400), { gapMs: 25 }))
      await write(page, 'Talk to me until I close this')
      await page.getByText('word word').first().waitFor()
      const url = page.url()
      await page.goto('about:blank')
      await page.goto(url)
      await page.getByText('Talk to me until I close this').waitFor()
      await page.getByText('This answer stopped when you left the page').waitFor()
      await page.getByRole('button', { name: 'Answer again' }).waitFor()
    },
  )

  await t.test(
    'the keyboard types on arrival, edits the last message and stops an answer',
    async () => {
      await page.goto(chat)
      await page.getByRole('textbox', { name: 'Message' }).waitFor()
      await page.waitForFunction("document.activeElement.getAttribute('aria-label') === 'Message'")
      vendor.play(says('word '.repeat(400), { gapMs: 25 }))
      await page.keyboard.type('Tell me more')
      await page.keyboard.press('Enter')
      await page.getByText('word word').first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('You stopped this answer.').waitFor()

      await page.keyboard.press('ArrowUp')
      const edited = page.getByRole('textbox', { name: 'Edit your message' })
      assert.equal(await edited.inputValue(), 'Tell me more')
      vendor.play(says('Enough'))
      await edited.fill('Tell me less')
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByText('Enough').waitFor()
      assert.equal(await page.getByRole('article').count(), 2)
    },
  )

  await t.test('a long conversation prints completely', async () => {
    await storeConversation(page, ada.userId, 40)
    await page.goto(`${chat}?c=long`)
    await page.getByText('Question 0', { exact: true }).waitFor({ state: 'attached' })
    await page.emulateMedia({ media: 'print' })
    const log = page.getByRole('log')
    assert.equal(await log.evaluate((box) => box.scrollHeight - box.clientHeight), 0)
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).isVisible(), false)
    assert.equal(await page.getByRole('navigation').first().isVisible(), false)
    await page.emulateMedia({ media: 'screen' })
  })

  await t.test('two tabs on one conversation show and keep the turns of both', async () => {
    const other = await page.context().newPage()
    await page.goto(chat)
    vendor.play(says('Answer zero'))
    await ask(page, 'first')
    await other.goto(page.url())
    await other.getByText('Answer zero').waitFor()

    // Both answers stream at the same time.
    vendor.play(says(`${'slow '.repeat(60)}Answer one`, { gapMs: 30 }))
    await write(page, 'from one')
    await page.getByText('slow slow').waitFor()
    vendor.play(says('Answer two'))
    await write(other, 'from two')
    await other.getByText('Answer two').waitFor()
    await page.getByText('Answer one').waitFor()

    const texts = ['first', 'Answer zero', 'from one', 'Answer one', 'from two', 'Answer two']
    for (const tab of [page, other]) {
      for (const text of texts) await tab.getByText(text).waitFor()
      assert.equal(await tab.getByRole('article').count(), 6)
    }
    assert.match(
      JSON.stringify(vendor.calls.at(-1)?.body.messages),
      /from one.*from two/,
      'the model reads both',
    )

    // Simulates a tab that overwrote our answer with its unfinished copy.
    await other.evaluate(`(() => {
      const key = 'latchkey.conversations.${ada.userId}'
      const [open, ...rest] = JSON.parse(localStorage.getItem(key))
      open.turns[3] = { ...open.turns[3], content: '', ending: { kind: 'left' } }
      localStorage.setItem(key, JSON.stringify([open, ...rest]))
    })()`)
    await other.waitForFunction(
      `localStorage.getItem('latchkey.conversations.${ada.userId}').includes('Answer one')`,
    )
    await other.reload()
    for (const text of texts) await other.getByText(text).waitFor()
    await other.close()
  })

  await t.test('a long conversation opens at its end and keeps the reader’s position', async () => {
    await storeConversation(page, ada.userId, 90)
    await page.goto(`${chat}?c=long`)
    await page.getByText('Question 44').waitFor()
    const log = page.getByRole('log')
    const fromEnd = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
    await page.getByText('Question 0', { exact: true }).waitFor({ state: 'attached' })
    assert.equal(await page.getByRole('article').count(), 90)
    assert.ok((await fromEnd()) < 48, `${await fromEnd()} px above the end when all is drawn`)

    vendor.play(says('word '.repeat(300), { gapMs: 5 }))
    await write(page, 'And on')
    await page.getByText('word word').first().waitFor()
    await page.waitForTimeout(300)
    assert.ok((await fromEnd()) < 48, 'follows the answer')

    await log.hover()
    await page.mouse.wheel(0, -1_500)
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
    const before = await log.evaluate((box) => box.scrollTop)
    await page.waitForTimeout(500)
    assert.equal(
      await log.evaluate((box) => box.scrollTop),
      before,
      'keeps the position of a reader above',
    )
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    await page.waitForTimeout(300)
    assert.ok((await fromEnd()) < 48)
  })

  await t.test('signing out during an answer deletes the conversation', async () => {
    await page.goto(chat)
    vendor.play(says('word '.repeat(400), { gapMs: 25 }))
    await write(page, 'Talk to me to the end')
    await page.getByText('word word').first().waitFor()
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    await page.waitForTimeout(300)
    assert.deepEqual(
      await page.evaluate(
        'Object.keys(localStorage).filter((key) => key.includes("conversations"))',
      ),
      [],
    )
  })
  assert.deepEqual(errors, [])
})

/** Stores a conversation with the id `long` as the app does. */
async function storeConversation(page: Page, userId: string, messages: number): Promise<void> {
  const turns = Array.from({ length: messages }, (_, index) =>
    index % 2 === 0
      ? { id: `t${index}`, role: 'user', content: `Question ${index / 2}` }
      : {
          id: `t${index}`,
          role: 'assistant',
          content: 'A **long** answer. '.repeat(60),
          ending: { kind: 'complete' },
        },
  )
  const text = JSON.stringify([{ id: 'long', updatedAt: new Date().toISOString(), turns }])
  await page.evaluate(
    `localStorage.setItem('latchkey.conversations.${userId}', ${JSON.stringify(text)})`,
  )
}

/** Sends a message and waits until the answer ends. */
async function ask(page: Page, text: string): Promise<void> {
  await write(page, text)
  await page.getByText(text, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Answer again' }).waitFor()
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

/** Returns the label of the focused element. */
function readFocusedName(page: Page): Promise<string> {
  return page.evaluate(
    'document.activeElement.getAttribute("aria-label") ?? document.activeElement.tagName',
  )
}

/** Streams an answer as OpenAI does, with a finish reason. */
function streamsAnswer(text: string, reason: 'stop' | 'length'): Step {
  const chunk = (delta: object, finish_reason: string | null) =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'gpt-6-luna',
      choices: [{ index: 0, delta, finish_reason }],
    })
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  return streams(
    chunk({ role: 'assistant', content: text }, null),
    chunk({}, reason),
    event({ id: 'c', choices: [], usage }),
    event('[DONE]'),
  )
}
