// The app in a language that this test makes up, and in German. In the made-up one each text of the app
// has accents and is longer, which shows untranslated texts and pages that are too narrow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { catalogues } from '#app/problems.ts'
import phrases from '#platform/phrases.de.json' with { type: 'json' }
import { testApp } from '#testing/app.ts'
import german from '../web/src/language/de.json' with { type: 'json' }
import { ON_SQLITE_ONLY, openBrowser, readStyle, signInByForm, visit } from './browser.ts'
import { storeConversation, uploadDocument } from './conversation.ts'
import { APP_PAGES, PUBLIC_PAGES, RESTRICTED_PAGES } from './page-list.ts'

const PHONE = { width: 390, height: 844 }

/** The API's documentation, the sandbox and the seller's own texts are in English. */
const IN_ENGLISH = /^\/(?:errors|reference|sandbox|shop\/products\/pro)/
const isTranslated = (path: string) => !IN_ENGLISH.test(path)

const ACCENTS: Record<string, string> = { a: 'å', e: 'é', i: 'î', o: 'ö', u: 'û', n: 'ñ', s: 'š' }
const ACCENTED = /[åéîöûñš]/
const BARE = /[a-z]{3}/i
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
/** Names, code, addresses, dates and what people wrote: the same in every language. */
const DATA = new RegExp(
  `^(?:${[
    '(?i:Latchkey|Free|Pro|Enterprise|Basic|English|Deutsch|OpenAI|Anthropic|Gemini|Google|GitHub|Redis)',
    'root|nora|node|local|home|library|rag|api_keys|bash|now|MRR',
    '[A-Z]+_[A-Z_]+|[a-z]+_\\w+|[a-z]+-\\S+|\\S*[/@]\\S*|https:// or mailto:',
    `(?:\\S+@\\S+\t)?(?:${MONTHS}) \\d.*|\\S+@\\S+\t.*`,
    'from openai .*|client = .*|curl .*|-[Hd] .*|["{(].*|\\w+=".*',
    // Subjects of sent emails, in the language of their recipients.
    'New sign-in to your account|Welcome to Latchkey: verify your email address',
    'autosize measurement',
  ].join('|')})$`,
)

test('no text of the app is bare, and longer texts fit on a phone', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const { base } = app.config.urls
  const nora = await app.as('nora')
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const browser = await openBrowser(t)
  const inspect = async (page: Page, path: string) => {
    await open(page, base, path)
    const lines = await readLines(page)
    const bare = lines.filter((line) => BARE.test(line) && !ACCENTED.test(line) && !DATA.test(line))
    assert.deepEqual(bare, [], path)
  }

  const stranger = await visit(browser, { viewport: PHONE })
  await speakPseudo(stranger.context)
  for (const path of PUBLIC_PAGES.filter(isTranslated)) await inspect(stranger.page, path)
  assert.deepEqual(stranger.errors, [])
  await stranger.context.close()

  for (const [who, paths] of [
    [nora, RESTRICTED_PAGES],
    [root, APP_PAGES],
  ] as const) {
    const { page, context, errors } = await visit(browser, { viewport: PHONE })
    await signInByForm(page, base, who.email)
    await speakPseudo(context)
    for (const path of paths.filter(isTranslated)) await inspect(page, path)
    assert.deepEqual(errors, [])
    await context.close()
  }
})

test(
  'an Arabic question, answer and document run from right to left',
  ON_SQLITE_ONLY,
  async (t) => {
    const app = await testApp(t, { userApp: true, worker: true })
    const { base } = app.config.urls
    const ada = await app.as('ada', { tier: 'pro' })
    const [question, document] = ['كم مدة الضمان لهذا الجهاز؟', 'تقرير الضمان السنوي.txt']
    await uploadDocument(ada, document, 'مدة الضمان لهذا الجهاز سنتان من تاريخ الشراء.')
    const id = await storeConversation(ada, question)
    await app.settle()
    const { page, errors } = await visit(await openBrowser(t), { viewport: PHONE })
    await signInByForm(page, base, ada.email)
    for (const [path, text] of [
      [`/c/${id}`, question],
      ['/library', document],
      ['/dashboard', question],
    ] as const) {
      await open(page, base, path)
      const shown = page.locator('main').getByText(text).first()
      await shown.waitFor()
      assert.equal(await readStyle(shown, 'direction'), 'rtl', path)
    }
    assert.deepEqual(errors, [])
  },
)

test(
  'the page is in German before the app starts, and the app afterwards',
  ON_SQLITE_ONLY,
  async (t) => {
    const app = await testApp(t, { userApp: true })
    const read = async (headers: Record<string, string>) =>
      (await fetch(app.url, { headers: { accept: 'text/html', ...headers } })).text()
    const page = await read({ 'accept-language': 'de-AT,en;q=0.5' })
    assert.match(page, /<html lang="de">/)
    assert.match(page, /Wird geladen….*braucht JavaScript/s)
    assert.match(page, /content="Ein Schlüssel/)
    assert.match(
      await read({ 'accept-language': 'de', cookie: 'a=b; lang=en' }),
      /<html lang="en">/,
    )
    const { brand } = app.config
    brand.replace({ ...brand.form, language: 'de' })
    assert.match(await read({ 'accept-language': 'fr' }), /<html lang="de">/)
    assert.match(await read({ 'accept-language': 'fr,en;q=0.5' }), /<html lang="en">/)

    const visitor = await visit(await openBrowser(t), { locale: 'de-DE' })
    await visitor.page.goto(`${app.url}/login`)
    await visitor.page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor()
    assert.deepEqual(visitor.errors, [])
  },
)

/** Gives every text of the app accents and more length, as the script of a language would. */
async function speakPseudo(context: BrowserContext): Promise<void> {
  const lengthenAll = (texts: readonly string[]) =>
    Object.fromEntries(texts.map((text) => [text, lengthen(text)]))
  const sentences = Object.values(catalogues).flatMap((catalogue) => Object.entries(catalogue))
  const texts = {
    texts: lengthenAll(Object.keys(german)),
    problems: Object.fromEntries(
      sentences.map(([code, [, sentence]]) => [code, [sentence, lengthen(sentence)]]),
    ),
    phrases: {
      values: {},
      ...Object.fromEntries(
        (['issues', 'files', 'checks'] as const).map((kind) => [
          kind,
          lengthenAll(Object.keys(phrases[kind])),
        ]),
      ),
    },
  }
  await context.addInitScript(`Object.assign(globalThis, ${JSON.stringify(texts)})`)
}

/** Returns the text with accents and 40 percent longer. Its places stay. */
function lengthen(text: string): string {
  const shown = text.replace(/\|.*/, '')
  const accented = shown.replace(/\{\w+\}|[a-z]/g, (part) => ACCENTS[part] ?? part)
  const more = 'ö'.repeat(Math.ceil(shown.trim().length * 0.4)).replace(/.{6}(?=.)/g, '$& ')
  return accented.replace(/\s*$/, (end) => `${more.length > 6 ? ' ' : ''}${more}${end}`)
}

async function open(page: Page, base: string, path: string): Promise<void> {
  await page.goto(`${base}${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(width <= PHONE.width, `${path} is ${width} px wide`)
}

/** Returns what people read on a page, with names of buttons and fields. */
async function readLines(page: Page): Promise<string[]> {
  const labels = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')].flatMap((element) =>
      ['aria-label', 'title', 'placeholder', 'alt'].map((name) => element.getAttribute(name) ?? ''))`,
  )
  return [...(await page.locator('body').innerText()).split('\n'), ...labels].map((line) =>
    line.trim(),
  )
}
