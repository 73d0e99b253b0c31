// Markdown in the chat, checked by computed styles instead of markup.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import {
  assertAccessible,
  ON_SQLITE_ONLY,
  openBrowser,
  readStyle,
  signInByForm,
  visit,
} from './browser.ts'

const SHEET = `# First

## Second

### Third

#### Fourth

##### Fifth

###### Sixth

A **bold word**, an *italic word*, a ~~struck word~~, a \`code word\` and a [link word](https://example.com/page).

- a dot
  - a dot inside
- another

3. three
4. four

- [x] a thing done
- [ ] a thing to do

> A quoted line

---

| Vendor | Price |
| :--- | ---: |
| Northwind-Traders-Limited | 400,000.00 |
| Contoso | 12.50 |

\`\`\`python
def greet(name): return f"Hello, {name}, this is a line that is longer than any telephone is wide"
\`\`\`

\`\`\`
no language
\`\`\`

A claim.[^1] And x<sup>2</sup>.

The line $a^2 + b^2 = c^2$ costs $5 and $10.

$$
\\sum_{n=1}^{\\infty} \\frac{1}{n^2} = \\frac{\\pi^2}{6} + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9 + x_{10}
$$

$$\\undefined{x}$$

A [script link](javascript:alert(1)) &amp; <b onclick="alert(1)">words</b><img src="https://example.com/pixel.gif" onerror="alert(1)">.

[^1]: The note below.

![a picture](https://example.com/pixel.png)

A [**https://bank.example**](https://evil.example/login), a [broken anchor](#%E0) and https://example.com/as-it-is.

مرحبا بالعالم
`

test('an answer renders its Markdown', ON_SQLITE_ONLY, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  vendor.play(says(SHEET))
  await signInByForm(page, app.config.urls.base, ada.email)
  await page.getByRole('textbox', { name: 'Message' }).fill('Show me all you can')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Answer again' }).waitFor()
  const answer = page.getByRole('article').last()
  const style = (selector: string, property: string, at = 0) =>
    readStyle(answer.locator(selector).nth(at), property)

  await t.test(
    'headings: one page heading alone, each level smaller than the one above',
    async () => {
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
      const sizes: number[] = []
      for (const name of ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth']) {
        sizes.push(
          Number.parseFloat(
            await readStyle(answer.getByRole('heading', { name, exact: true }), 'font-size'),
          ),
        )
      }
      assert.deepEqual(
        sizes,
        sizes.toSorted((a, b) => b - a),
      )
      assert.ok((sizes[0] ?? 0) > (sizes[3] ?? 0) && (sizes[3] ?? 0) > (sizes[5] ?? 0), `${sizes}`)
      assert.equal(await answer.getByRole('heading', { name: 'First', level: 3 }).count(), 1)
      assert.equal(await answer.getByRole('heading', { name: 'Second', level: 4 }).count(), 1)
    },
  )

  await t.test('inline: bold, italic, strikethrough, code, links', async () => {
    assert.ok(
      Number(await readStyle(answer.getByText('bold word', { exact: true }), 'font-weight')) >= 600,
    )
    assert.equal(await style('em', 'font-style'), 'italic')
    assert.match(await style('del', 'text-decoration-line'), /line-through/)
    assert.match(await style('p > code', 'font-family'), /mono/i)
    assert.notEqual(await style('p > code', 'background-color'), 'rgba(0, 0, 0, 0)')
    assert.match(await style('p > a', 'text-decoration-line'), /underline/)
  })

  await t.test('lists: bullets, numbers with a start, tasks with checkboxes', async () => {
    assert.equal(await style('ul:not([data-tasks]) > li', 'list-style-type'), 'disc')
    assert.equal(await style('ul ul > li', 'list-style-type'), 'circle')
    assert.equal(await style('ol > li', 'list-style-type'), 'decimal')
    assert.equal(await answer.locator('ol').first().getAttribute('start'), '3')
    assert.equal(await style('ul[data-tasks] > li', 'list-style-type'), 'none')
    assert.equal(await answer.getByRole('checkbox', { name: 'Done' }).isChecked(), true)
    assert.equal(await answer.getByRole('checkbox', { name: 'To do' }).isChecked(), false)
  })

  await t.test('quotes, rules, and tables with aligned columns', async () => {
    assert.notEqual(await style('blockquote', 'border-inline-start-width'), '0px')
    assert.equal(await style('hr', 'border-top-style'), 'solid')
    assert.equal(await style('td', 'text-align', 1), 'right')
    assert.equal(await style('td', 'border-top-style'), 'solid')
    assert.ok(Number(await style('th', 'font-weight')) >= 600)
  })

  await t.test('code blocks show the language and do not wrap', async () => {
    await answer.getByText('python', { exact: true }).waitFor()
    assert.equal(await style('pre code', 'white-space-collapse'), 'preserve')
    assert.equal(await style('pre', 'overflow-x'), 'auto')
    assert.equal(await answer.getByRole('button', { name: 'Copy code' }).count(), 2)
  })

  await t.test('code is colored', async () => {
    const keyword = answer.locator('pre code span', { hasText: /^def$/ })
    await keyword.waitFor()
    assert.notEqual(await readStyle(keyword, 'color'), await style('pre code', 'color'))
  })

  await t.test('maths is set, prices and unreadable TeX stay as text', async () => {
    await answer.locator('.katex math').first().waitFor({ state: 'attached' })
    assert.equal(await answer.locator('.katex-display').count(), 1)
    await answer.getByText('costs $5 and $10.').waitFor()
    await answer.getByText('\\undefined{x}', { exact: true }).waitFor()
    assert.match(await style('.katex', 'font-family'), /KaTeX/)
  })

  await t.test('HTML and links that run code have no effect', async () => {
    assert.equal(await answer.getByRole('link', { name: 'script link' }).count(), 0)
    await answer.getByText('A script link & words.', { exact: true }).waitFor()
    assert.equal(await answer.locator('b, img, [onclick]').count(), 0)
    assert.equal(await style('sup', 'vertical-align', 1), 'super')
  })

  await t.test('footnotes link down and back inside the answer', async () => {
    await answer.getByRole('link', { name: '1', exact: true }).click()
    const note = answer.locator('li', { hasText: 'The note below.' })
    assert.equal(await note.evaluate((element) => element.matches(':focus')), true)
    assert.equal(new URL(page.url()).hash, '')
  })

  await t.test('a link shows its target, unless its text does', async () => {
    const disguised = answer.getByRole('link', {
      name: 'https://bank.example (evil.example)',
      exact: true,
    })
    assert.equal(await disguised.getAttribute('title'), 'evil.example')
    assert.equal(
      await answer
        .getByRole('link', { name: 'link word (example.com)', exact: true })
        .getAttribute('title'),
      'example.com',
    )
    await answer.getByRole('link', { name: 'https://example.com/as-it-is', exact: true }).waitFor()
  })

  await t.test('a fragment is plain text, because an answer has no places to jump to', async () => {
    await answer.getByText('a broken anchor and').waitFor()
    assert.equal(await answer.getByRole('link', { name: 'broken anchor' }).count(), 0)
  })

  await t.test('an image is a link, and text keeps its writing direction', async () => {
    assert.equal(await answer.locator('img').count(), 0)
    await answer.getByRole('link', { name: 'Image: a picture' }).waitFor()
    assert.equal(await readStyle(answer.getByText('مرحبا بالعالم'), 'direction'), 'rtl')
  })

  await t.test('on a phone a wide table scrolls and does not break words', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const lines = await answer
      .getByRole('cell', { name: 'Northwind-Traders-Limited' })
      .evaluate((cell) => cell.getBoundingClientRect().height)
    const one = await answer
      .getByRole('cell', { name: 'Contoso' })
      .evaluate((cell) => cell.getBoundingClientRect().height)
    assert.equal(lines, one, 'a word is broken over two lines')
    assert.equal(
      await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      ),
      0,
    )
  })

  await t.test('the answer is accessible', async () => {
    await assertAccessible(page, 'a sheet of Markdown on a phone')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
    await assertAccessible(page, 'a sheet of Markdown in the dark')
  })
  assert.deepEqual(errors, [])
})
