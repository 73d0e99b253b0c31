/** The page of the user app: the built index.html with the brand of this moment. */
import { readFileSync } from 'node:fs'
import type { LiveBrand } from '#brand/live.ts'
import { escapeHtml } from '#platform/http/html.ts'

export class AppPage {
  readonly #template: string
  readonly #brand: LiveBrand
  #rendered = { version: '', html: '' }

  /** `path`: of the built index.html. */
  constructor(path: string, brand: LiveBrand) {
    this.#template = readFileSync(path, 'utf8')
    this.#brand = brand
  }

  render(): string {
    const { version } = this.#brand
    if (this.#rendered.version !== version)
      this.#rendered = { version, html: fillTemplate(this.#template, this.#brand) }
    return this.#rendered.html
  }
}

function fillTemplate(template: string, brand: LiveBrand): string {
  const icon = escapeHtml(brand.iconPath)
  return template
    .replaceAll('Latchkey', () => escapeHtml(brand.name))
    .replaceAll('"/brand/square"', () => `"${icon}"`)
}
