// The browser of the end-to-end tests: Chromium from an npm package, so that no installation is
// needed.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import Chromium, { inflate } from '@sparticuz/chromium'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { PASSWORD } from '#testing/app.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'latchkey-browser')

export type Visit = { page: Page; context: BrowserContext; errors: string[] }

/**
 * Replaces the package's arguments, which disable web security and share storage between visitors.
 */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/** Options of a test of how pages look, which does not depend on the database. */
export const ON_SQLITE_ONLY = {
  skip: process.env.TEST_DATABASE_URL !== undefined && 'pages look the same on each database',
}

/** Opens a browser until the test ends. */
export async function openBrowser(t: Pick<TestContext, 'after'>): Promise<Browser> {
  const browser = await launch().catch(() => {
    // An interrupted extraction, or missing libraries: unpack again, with the libraries.
    rmSync(CACHE, { recursive: true, force: true })
    return launch({ withLibraries: true })
  })
  t.after(() => browser.close())
  return browser
}

async function launch({ withLibraries = false } = {}): Promise<Browser> {
  const { executablePath, libraries } = await unpack(withLibraries)
  const env = libraries ? { LD_LIBRARY_PATH: libraries } : {}
  return chromium.launch({
    executablePath,
    args: ARGUMENTS,
    headless: true,
    env: { ...process.env, ...env } as Record<string, string>,
  })
}

/** Unpacks into this checkout instead of the machine's shared temporary folder. */
async function unpack(
  withLibraries: boolean,
): Promise<{ executablePath: string; libraries: string | null }> {
  mkdirSync(CACHE, { recursive: true })
  const before = process.env.TMPDIR
  process.env.TMPDIR = CACHE
  try {
    const executablePath = await Chromium.executablePath()
    const archive = join(
      dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))),
      '..',
      'bin',
      'al2023.tar.br',
    )
    return { executablePath, libraries: withLibraries ? join(await inflate(archive), 'lib') : null }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/** Opens a separate visitor. `errors` collects script errors and policy violations of the page. */
export async function visit(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    // Rejected requests are up to the page; blocked scripts and styles are errors.
    if (message.type() === 'error' && /Content Security Policy|Refused to/.test(message.text()))
      errors.push(`${page.url()}: ${message.text()}`)
  })
  return { page, context, errors }
}

/** Signs in by the form. The default password is that of `app.as(…)`. */
export async function signInByForm(
  page: Page,
  base: string,
  email: string,
  password = PASSWORD,
): Promise<void> {
  await page.goto(`${base}/login`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/home')
}

/** Returns the computed style. */
export function readStyle(element: Locator, property: string): Promise<string> {
  return element.evaluate((node, property) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(node: unknown): { getPropertyValue(property: string): string }
    }
    return getComputedStyle(node).getPropertyValue(property)
  }, property)
}

type Violation = { id: string; impact: string | null; help: string; nodes: { target: string[] }[] }

/** Fails when axe finds a violation that is more than minor. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // Loading parts have aria-busy.
  await page.locator('h1').first().waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  await assertNothingFound(page, name, {})
}

/** Checks the rule that depends on the theme. */
export async function assertContrast(page: Page, name: string): Promise<void> {
  await assertNothingFound(page, name, { runOnly: ['color-contrast'] })
}

/** Checks the rule that depends on the width. */
export async function assertScrollable(page: Page, name: string): Promise<void> {
  await assertNothingFound(page, name, { runOnly: ['scrollable-region-focusable'] })
}

/** A busy machine renders late, so violations are checked again. */
const LOOKS = 3

async function assertNothingFound(page: Page, name: string, options: object): Promise<void> {
  let violations = await findViolations(page, options)
  for (let look = 1; look < LOOKS && violations.length > 0; look++) {
    await page.waitForTimeout(500)
    violations = await findViolations(page, options)
  }
  assert.deepEqual(
    violations.map(
      (violation) =>
        `${violation.id}: ${violation.help} at ${violation.nodes.map((node) => node.target.join(' ')).join(', ')}`,
    ),
    [],
    `${name} (${page.url()})`,
  )
}

async function findViolations(page: Page, options: object): Promise<Violation[]> {
  // The debugger evaluates this, so the page's policy does not apply.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
  // A theme change renders within two frames.
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
  )
  // Wait for color transitions to end.
  await page.evaluate(`Promise.allSettled(
    document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < 10_000).map((one) => one.finished),
  ).then(() => {})`)
  return page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> }
    }
    const { violations } = await axe.run({ ...options, resultTypes: ['violations'] })
    return violations.filter(({ impact }) => impact !== 'minor')
  }, options)
}
