/**
 * The home page under another brand, for the preview of one that is not saved. It is one document:
 * it loads nothing, runs nothing, and its links do nothing.
 */
import { html, raw } from '#platform/http/html.ts'
import { getPageMessages } from '../messages/pages.ts'
import { readAsset } from './assets.ts'
import { homePage, readHome } from './home-page.ts'
import { type LayoutDeps, renderBody } from './layout.ts'
import { listLegalPages } from './legal-pages.ts'
import { shopLook } from './look.ts'
import type { OfferDeps } from './offers.ts'
import type { PlanDeps } from './plan-cards.ts'

export async function renderHomePreview(deps: LayoutDeps & OfferDeps & PlanDeps): Promise<string> {
  const { config } = deps
  const messages = getPageMessages('en')
  const [home, legalPages] = await Promise.all([
    readHome(deps, null, messages),
    listLegalPages(deps),
  ])
  const body = homePage({ ...home, frontend: config.urls.frontend, code: null, messages })
  const sheet = raw(readAsset('storefront.css') + shopLook(config.brand))
  return `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><title>${home.text.title}</title><style>${sheet}</style></head>
<body inert>${renderBody(config, { body, caller: null, path: '/' }, legalPages)}</body></html>`
      .markup
  }`
}
