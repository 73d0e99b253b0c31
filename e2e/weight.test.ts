// What a first visit to a page loads, as the service sends it to a client that accepts gzip.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { ON_SQLITE_ONLY, openBrowser, signInByForm, visit } from './browser.ts'
import { storeConversation } from './conversation.ts'

/** Fonts come after the text, once a year, so they count as files but not as weight. */
type Weight = { kilobytes: number; files: number; fonts: number; shift: number }

/** Of Google's Core Web Vitals: how far a page may move while it loads. */
const SHIFT_MAX = 0.1

const LIMITS: Record<string, { kilobytes: number; files: number }> = {
  '/': { kilobytes: 165, files: 20 },
  '/login': { kilobytes: 182, files: 20 },
  '/dashboard': { kilobytes: 150, files: 12 },
  '/home': { kilobytes: 225, files: 24 },
  '/c/$id': { kilobytes: 225, files: 24 },
  '/library': { kilobytes: 190, files: 24 },
}

test('pages stay light', ON_SQLITE_ONLY, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('**At nine**, from the north quay.'))
  const id = await storeConversation(ada, 'When does the ferry sail?')
  const browser = await openBrowser(t)
  const { page, context } = await visit(browser)

  for (const path of ['/', '/login']) await assertLight(t, page, app.url, path, path)
  await signInByForm(page, app.url, ada.email)
  await page.close()
  for (const path of ['/dashboard', '/home', '/c/$id', '/library']) {
    const next = await context.newPage()
    await assertLight(t, next, app.url, path, path.replace('$id', id))
    await next.close()
  }
})

async function assertLight(
  t: { diagnostic(message: string): void },
  page: Page,
  base: string,
  path: string,
  address: string,
): Promise<void> {
  const weight = await weigh(page, `${base}${address}`)
  const { kilobytes, files, fonts, shift } = weight
  t.diagnostic(
    `${path}: ${kilobytes} KB in ${files} files, and fonts of ${fonts} KB; moved by ${shift.toFixed(3)}`,
  )
  const limit = LIMITS[path]
  assert.ok(limit && kilobytes <= limit.kilobytes, `${path}: ${kilobytes} KB`)
  assert.ok(files <= limit.files, `${path}: ${files} files`)
  assert.ok(shift < SHIFT_MAX, `${path} moved by ${shift} while it loaded`)
}

/** Opens the page and measures every file of the app that it asked for. */
async function weigh(page: Page, url: string): Promise<Weight> {
  await page.setViewportSize({ width: 412, height: 823 })
  const asked = new Set<string>()
  page.on('request', (request) => {
    if (['document', 'script', 'stylesheet', 'font', 'image'].includes(request.resourceType()))
      asked.add(request.url())
  })
  await page.goto(url)
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  await page.waitForLoadState('networkidle')
  page.removeAllListeners('request')

  let bytes = 0
  let fontBytes = 0
  const files = [...asked].filter((one) => one.startsWith(new URL(url).origin))
  for (const file of files) {
    const content = Buffer.from(await (await fetch(file, { headers: { accept: '*/*' } })).bytes())
    if (file.endsWith('.woff2')) fontBytes += content.length
    else bytes += gzipSync(content).length
  }
  return {
    kilobytes: Math.round(bytes / 102.4) / 10,
    files: files.length,
    fonts: Math.round(fontBytes / 1024),
    shift: await readShift(page),
  }
}

/** Returns the sum of the layout shifts since the page opened. */
function readShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const shifts = list.getEntries() as unknown as { value: number }[]
          resolve(shifts.reduce((sum, { value }) => sum + value, 0))
        })
        // Node's type knows only its own entries.
        observer.observe({ type: 'layout-shift', buffered: true } as unknown as { type: 'mark' })
        setTimeout(() => resolve(0), 500)
      }),
  )
}
