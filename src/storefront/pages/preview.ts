/**
 * The home page under another brand, for the preview of one that is not saved. It is one document:
 * it loads nothing, runs nothing, and its links do nothing.
 */
import { html, raw } from '#platform/http/html.ts'
import { readAsset } from './assets.ts'
import { homePage, readHomeText } from './home-page.ts'
import { type LayoutDeps, renderBody } from './layout.ts'
import { listLegalPages } from './legal-pages.ts'
import { shopLook } from './look.ts'
import { listOffers, type OfferDeps } from './offers.ts'

export async function renderHomePreview(deps: LayoutDeps & OfferDeps): Promise<string> {
  const { config } = deps
  const [offers, home, legalPages] = await Promise.all([
    listOffers(deps, null),
    readHomeText(deps, config.brand.name),
    listLegalPages(deps),
  ])
  const body = homePage({ home, offers, code: null })
  const sheet = raw(readAsset('storefront.css') + shopLook(config.brand))
  return `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><title>${home.title}</title><style>${sheet}</style></head>
<body inert>${renderBody(config, { body, caller: null, path: '/' }, legalPages)}</body></html>`
      .markup
  }`
}
