// Uses a page by the keyboard alone: an element that Tab does not reach, or that is hidden when it has the focus, fails.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** More than any page has between two elements of a walk. */
const STEPS_MAX = 150

type Direction = 'Tab' | 'Shift+Tab'

export class Keyboard {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Moves the focus until the element has it. */
  async reach(target: Locator, direction: Direction = 'Tab'): Promise<void> {
    await target.waitFor()
    for (let steps = 0; !(await hasFocus(target)); steps++) {
      assert.ok(steps < STEPS_MAX, `${target} cannot be reached with ${direction}`)
      await this.#page.keyboard.press(direction)
    }
    await assertVisible(target)
  }

  async press(
    target: Locator,
    { key = 'Enter', direction = 'Tab' as Direction } = {},
  ): Promise<void> {
    await this.reach(target, direction)
    await this.#page.keyboard.press(key)
  }

  async fill(target: Locator, text: string): Promise<void> {
    await this.reach(target)
    await this.#page.keyboard.press('Control+A')
    await this.#page.keyboard.type(text)
  }

  /** Opens a dialog and waits until it has the focus, so that no key is lost. */
  async open(button: Locator, dialog: Locator, direction: Direction = 'Tab'): Promise<void> {
    await this.press(button, { direction })
    await this.waitForFocus(dialog)
  }

  async waitForFocus(dialog: Locator): Promise<void> {
    await dialog.and(this.#page.locator(':focus-within')).waitFor()
  }

  /** Follows a link of the menu, which is behind a button on a phone. */
  async go(name: string, heading: string): Promise<void> {
    const menu = this.#page.getByRole('navigation', { name: 'Main' })
    const link = menu.getByRole('link', { name, exact: true })
    const opener = this.#page.getByRole('button', { name: 'Open menu' })
    if (await opener.isVisible()) {
      if ((await opener.getAttribute('aria-expanded')) === 'false')
        await this.open(opener, menu, 'Shift+Tab')
      await this.press(link)
    } else await this.press(link, { direction: 'Shift+Tab' })
    await this.#page.getByRole('heading', { level: 1, name: heading }).waitFor()
  }
}

const hasFocus = (target: Locator) => target.evaluate((node) => node.matches(':focus'))

/** Nothing may cover the focused element (WCAG 2.2, 2.4.11). Scrolling and menus need a moment. */
async function assertVisible(target: Locator): Promise<void> {
  let isVisible = await target.evaluate(IS_ON_TOP)
  for (let look = 0; look < 40 && !isVisible; look++) {
    await target.page().waitForTimeout(50)
    isVisible = await target.evaluate(IS_ON_TOP)
  }
  assert.ok(isVisible, `${target} has the focus, but is hidden`)
}

/** Hidden inputs of switches and checkboxes lie below the mark that shows them, inside their label. */
const IS_ON_TOP = (node: PageElement) => {
  const { left, top, width, height } = node.getBoundingClientRect()
  const shown = node.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)
  const isMark = node.matches('input[type=checkbox], input[type=radio]')
  const part = (isMark && node.parentElement?.parentElement) || node
  return shown !== null && part.contains(shown)
}
type PageElement = {
  contains(other: PageElement): boolean
  matches(selector: string): boolean
  getBoundingClientRect(): { left: number; top: number; width: number; height: number }
  ownerDocument: { elementFromPoint(x: number, y: number): PageElement | null }
  parentElement: PageElement | null
}
