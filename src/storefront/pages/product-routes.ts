/** The pages of products, their changelogs and feeds. */
import type { FastifyRequest } from 'fastify'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { App } from '#platform/http/app.ts'
import { platformProblem } from '#platform/problems.ts'
import { type PageMessages, readMessages } from '../messages/pages.ts'
import { showReleases } from '../products/releases.ts'
import { listOffers as listUpgrades } from '../purchases/list.ts'
import { isCurrent, listOfUser } from '../purchases/store.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'
import { changelogPage, takePart } from './changelog.ts'
import { atomFeed, jsonFeed } from './feeds.ts'
import { type LayoutDeps, sendNotFound, sendPage } from './layout.ts'
import { listLegalPages } from './legal-pages.ts'
import { plainText } from './markdown.ts'
import { listOffers, type OfferDeps, readCode } from './offers.ts'
import { productPage } from './product-page.ts'
import { MINUTES, SharedContent } from './shared-reply.ts'
import { describePlace, describeProduct } from './structured-data.ts'

export type ProductPageDeps = SessionDeps & LayoutDeps & OfferDeps

const ANYONE = { config: { access: 'anyone' as const } }

export function productRoutes(app: App, deps: ProductPageDeps): void {
  const { config } = deps
  const findCaller = (request: FastifyRequest) =>
    findStoreCaller(deps, request.cookies[SESSION_COOKIE])
  const findProduct = (request: FastifyRequest) => {
    const { slug } = request.params as { slug: string }
    return deps.productList.sold.find((product) => product.slug === slug)
  }
  app.get('/products', ANYONE, async (_request, reply) => reply.redirect('/pricing', 301))

  app.get('/products/:slug', ANYONE, async (request, reply) => {
    const product = findProduct(request)
    if (!product) return sendNotFound(reply, deps, await findCaller(request))
    const caller = await findCaller(request)
    const messages = readMessages(request, caller, deps.config.brand)
    const [offers, releases, legalPages] = await Promise.all([
      listOffers(deps, caller?.userId ?? null),
      showReleases(deps, product.tier),
      listLegalPages(deps),
    ])
    const offer = offers.find((one) => one.product.tier === product.tier)
    if (!offer) return sendNotFound(reply, deps, await findCaller(request))
    const body = productPage({
      brand: config.brand.name,
      offer,
      products: offers.map((one) => one.product),
      releases,
      upgrades: caller && !offer.isOwned ? await findUpgrades(deps, caller.userId, product) : [],
      code: readCode(request),
      tax: config.processor.tax,
      legalPages,
      messages,
    })
    return sendPage(reply, deps, {
      title: product.name,
      body,
      caller,
      messages,
      path: '/pricing',
      listing: {
        path: `/products/${product.slug}`,
        description: describe(config, product, messages),
        image: product.gallery[0]?.url ?? product.images[0],
        data: describeProduct(config, offer),
        feed: `/products/${product.slug}/feed`,
      },
    })
  })

  app.get('/products/:slug/changelog', ANYONE, async (request, reply) => {
    const product = findProduct(request)
    if (!product) return sendNotFound(reply, deps, await findCaller(request))
    const { from } = request.query as { from?: unknown }
    const start = typeof from === 'string' ? from : null
    const part = takePart(await showReleases(deps, product.tier), start)
    if (!part) return sendNotFound(reply, deps, await findCaller(request))
    const page = `/products/${product.slug}`
    const caller = await findCaller(request)
    const messages = readMessages(request, caller, deps.config.brand)
    const text = messages.changelog
    const { storefront } = config.urls
    return sendPage(reply, deps, {
      title: text.of(product.name),
      body: changelogPage(product, part, messages),
      caller,
      messages,
      listing: {
        path: `${page}/changelog${start === null ? '' : `?from=${encodeURIComponent(start)}`}`,
        description: text.description(`${config.brand.name} ${product.name}`),
        feed: `${page}/feed`,
        data: [
          describePlace([
            ['Products', `${storefront}/pricing`],
            [product.name, storefront + page],
            ['Changelog', `${storefront}${page}/changelog`],
          ]),
        ],
      },
    })
  })

  for (const [extension, type] of [
    ['json', 'application/feed+json; charset=utf-8'],
    ['xml', 'application/atom+xml; charset=utf-8'],
  ] as const) {
    app.get(`/products/:slug/feed.${extension}`, ANYONE, async (request, reply) => {
      const product = findProduct(request)
      if (!product) throw platformProblem('not_found')
      const parts = { config, product, releases: await showReleases(deps, product.tier) }
      const feed = extension === 'json' ? jsonFeed(parts) : atomFeed(parts, deps.clock.now())
      return new SharedContent(feed).send(reply.type(type), MINUTES)
    })
  }
}

function describe(
  config: Config,
  { name, description, features }: CatalogueProduct,
  { product: text }: PageMessages,
): string {
  return (
    plainText(description) || features.join(' · ') || text.fallback(`${config.brand.name} ${name}`)
  )
}

/** The exact prices at which the visitor's purchases become this product. */
async function findUpgrades(deps: ProductPageDeps, userId: string, product: CatalogueProduct) {
  const purchases = await listOfUser(deps.db, userId)
  const found = purchases.filter(isCurrent).map(async (purchase) => {
    const { upgrades } = await listUpgrades(deps, purchase, purchases)
    return upgrades
      .filter(({ tier }) => tier === product.tier)
      .map(({ amount_cents, currency }) => ({
        fromId: purchase.id,
        fromName: deps.productList.getName(purchase.tier),
        cents: amount_cents,
        currency,
      }))
  })
  return (await Promise.all(found)).flat()
}
