import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LiveBrand } from '#brand/live.ts'
import { brandPictureRoutes } from '#brand/routes.ts'
import type { App } from '#platform/http/app.ts'
import { shopLook } from './look.ts'
import { FOREVER, SharedContent } from './shared-reply.ts'

const FILES = {
  'storefront.css': 'text/css; charset=utf-8',
  'storefront.js': 'text/javascript; charset=utf-8',
  'copy-code.js': 'text/javascript; charset=utf-8',
  'social.png': 'image/png',
}

/** The proof-of-work solver of the package altcha-lib. Few browsers ever load it. */
const SOLVER = fileURLToPath(new URL('.', import.meta.resolve('altcha-lib')))
const SOLVER_FILES = ['pow.js', 'helpers.js', 'types.js', 'algorithms/web/pbkdf2.js']

const loaded = Object.entries(FILES).map(([name, type]) => {
  const content = readFileSync(new URL(name, import.meta.url))
  return {
    name,
    type,
    content: new SharedContent(content),
    tag: createHash('sha256').update(content).digest('base64url').slice(0, 12),
  }
})

/**
 * Returns an address that changes with the asset's content, so that browsers can cache it for a
 * year.
 */
export function assetUrl(name: keyof typeof FILES): string {
  return `/assets/${name}?v=${loaded.find((file) => file.name === name)?.tag}`
}

/** Returns the text of an asset, for a document that may load nothing. */
export function readAsset(name: keyof typeof FILES): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

export function assetRoutes(app: App, brand: LiveBrand): void {
  brandPictureRoutes(app, brand)
  for (const { name, type, content } of loaded) {
    app.get(`/assets/${name}`, { config: { access: 'anyone' } }, (_request, reply) =>
      content.send(reply.type(type), FOREVER),
    )
  }
  for (const name of SOLVER_FILES) {
    app.get(`/assets/altcha/${name}`, { config: { access: 'anyone' } }, (_request, reply) =>
      reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=86400')
        .send(readFileSync(join(SOLVER, name))),
    )
  }
  app.get('/assets/brand.css', { config: { access: 'anyone' } }, (_request, reply) =>
    new SharedContent(shopLook(brand)).send(reply.type('text/css; charset=utf-8'), FOREVER),
  )
  app.get('/favicon.ico', { config: { access: 'anyone' } }, (_request, reply) =>
    reply.redirect(brand.iconPath, 302),
  )
}
