/**
 * The operator's own pages, such as terms, privacy and imprint: `_legal/NAME.md` beside the
 * products, shown at /legal/NAME and linked in the footer. No product's folder begins with `_`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Html, html } from '#platform/http/html.ts'
import type { ReleaseDeps } from '../products/releases.ts'
import { markdown } from './markdown.ts'

export type LegalDeps = Pick<ReleaseDeps, 'products' | 'log'>

export type LegalPage = {
  path: string
  /** The first heading. */
  title: string
  /** Markdown after the first heading. */
  text: string
}

const FOLDER = '_legal'
const FILE = /^([a-z0-9][a-z0-9-]{0,63})\.md$/
const PATIENCE_MS = 1_000

/** Lists the pages by the names of their files. */
export function listLegalPages(deps: LegalDeps): Promise<LegalPage[]> {
  return readInTime(deps, () => readPages(deps), [])
}

/** Returns `otherwise` when the files cannot be read in time, so that no page waits for them. */
export async function readInTime<T>(
  { log }: LegalDeps,
  read: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  const result = read().catch((error) => {
    log.error({ err: error }, 'the pages of the operator cannot be read')
    return otherwise
  })
  return Promise.race([result, sleep(PATIENCE_MS, otherwise, { ref: false })])
}

async function readPages({ products }: LegalDeps): Promise<LegalPage[]> {
  const files = (await products.files(FOLDER)).filter(({ path }) => FILE.test(path))
  const pages = files.map(async ({ path }) => {
    const name = path.slice(0, -'.md'.length)
    return parsePage(name, (await products.text(`${FOLDER}/${path}`)) ?? '')
  })
  return Promise.all(pages)
}

/** A file without a heading has its name as the title. */
export function parsePage(name: string, content: string): LegalPage {
  const text = content.replace(/^\uFEFF/, '').trim()
  const heading = /^#[ \t]+(.+?)[ \t]*#*(?:\r?\n|$)/.exec(text)
  const [whole = '', title = capitalize(name.replaceAll('-', ' '))] = heading ?? []
  return { path: `/legal/${name}`, title, text: text.slice(whole.length).trim() }
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export function legalPage({ title, text }: LegalPage): Html {
  return html`<div class="wrap reading"><h1>${title}</h1><div class="prose">${markdown(text, { heading: 2 })}</div></div>`
}
