/**
 * `npm run screenshots -- [BASE [STOREFRONT]]` takes the pictures of docs/screenshots.md from a
 * running service that has the seeded year. Names after `--only` limit it to those.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, signInByForm, visit } from './browser.ts'

type Shot = {
  name: string
  /** Missing: nobody is signed in. */
  as?: 'root' | 'ada'
  /** Below the address of the app; with `isShop`, of the storefront. */
  path: string
  isShop?: boolean
  /** The link that opens the page, where its address has an id. */
  open?: string
  /** Afterwards, the button of a source, whose sentence is then highlighted. */
  source?: RegExp
  isDark?: boolean
}

const SHOTS: readonly Shot[] = [
  {
    name: 'home-conversation',
    as: 'ada',
    path: '/home',
    open: 'What does the lease say',
    source: /^Source \d/,
  },
  { name: 'home-library', as: 'ada', path: '/library?q=deposit' },
  { name: 'home-overview', as: 'ada', path: '/dashboard' },
  { name: 'build-overview', as: 'ada', path: '/build', isDark: true },
  { name: 'build-calls', as: 'ada', path: '/calls' },
  { name: 'run-today', as: 'root', path: '/run/today' },
  { name: 'run-customer', as: 'root', path: '/customers?q=allen', open: 'Frances Allen' },
  { name: 'run-money', as: 'root', path: '/run/money?days=365&interval=month', isDark: true },
  { name: 'run-brand', as: 'root', path: '/run/brand' },
  { name: 'shop-product', path: '/products/pro', isShop: true },
]

const FOLDER = join(import.meta.dirname, '..', 'docs', 'screenshots')
const VIEWPORT = { width: 1280, height: 800 }
const QUALITY = 80

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true } },
})
const [base = 'http://localhost:8000', storefront = 'http://localhost:8001'] = positionals

const closers: (() => unknown)[] = []
const browser = await openBrowser({ after: (close) => closers.push(close as () => unknown) })
try {
  mkdirSync(FOLDER, { recursive: true })
  for (const shot of SHOTS) if (values.only?.includes(shot.name) ?? true) await take(browser, shot)
} finally {
  for (const close of closers) await close()
}

async function take(browser: Browser, shot: Shot): Promise<void> {
  const colorScheme = shot.isDark ? 'dark' : 'light'
  const { page, context } = await visit(browser, { viewport: VIEWPORT, colorScheme })
  if (shot.as) await signInByForm(page, base, `${shot.as}@example.com`)
  await page.goto(`${shot.isShop ? storefront : base}${shot.path}`)
  if (shot.open) await page.getByRole('link', { name: shot.open }).first().click()
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  if (shot.source) {
    await page.getByRole('button', { name: shot.source }).first().click()
    await page.locator('[data-highlight]').first().waitFor()
  }
  await page.waitForLoadState('networkidle')
  const picture = await captureWebp(page)
  writeFileSync(join(FOLDER, `${shot.name}.webp`), picture)
  console.log(`${shot.name}.webp: ${Math.ceil(picture.length / 1024)} KB`)
  await context.close()
}

/** Playwright writes no WebP; the browser does. */
async function captureWebp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  })
  return Buffer.from(data, 'base64')
}
