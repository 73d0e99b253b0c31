/**
 * Serves the user app. Builds its files first when they are missing or older than their sources.
 * Addresses without a page get the app's page with 404, so that people read "Page not found" and
 * programs see the status.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import type { LiveBrand } from '#brand/live.ts'
import type { PageBrand } from '#brand/page-brand.ts'
import type { App } from '#platform/http/app.ts'
import { pageHeaders } from '#platform/http/headers.ts'
import { canonicalPath } from '#platform/http/path.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { AppPage } from './app-page.ts'
import { isCurrent, USER_APP } from './built.ts'
import { hasUserAppPage } from './user-app-paths.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DIST = USER_APP.folder

/** Search engines index the public pages only. */
const ROBOTS = `User-agent: *
Allow: /$
Allow: /pricing
Allow: /llms.txt
Allow: /llms-full.txt
Disallow: /
`

const YEAR_S = 31_536_000

/** Paths of the API. Unknown addresses below these get the API's 404. */
const RESERVED =
  /^\/(api|v1|mcp|sandbox|docs|redoc|assets|brand|\.well-known|healthz|readyz|metrics|openapi\.json|sitemap\.xml|llms\.txt)(\/|$)/

export async function userAppRoutes(
  app: App,
  {
    log,
    brand,
    findLinks,
  }: { log: Log; brand: LiveBrand; findLinks(): Promise<PageBrand['links']> },
): Promise<void> {
  await ensureBuilt(log)
  const appPage = new AppPage(join(DIST, 'index.html'), brand)

  await app.register(fastifyStatic, {
    root: DIST,
    index: false,
    wildcard: false,
    preCompressed: true,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders(reply, path) {
      // Names under assets/ contain a hash of their content.
      const forever = path.startsWith(join(DIST, 'assets'))
      reply.header('cache-control', forever ? `public, max-age=${YEAR_S}, immutable` : 'no-cache')
    },
  })

  app.get('/robots.txt', { config: { access: 'anyone' } }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(ROBOTS),
  )

  app.get('/*', { config: { access: 'anyone' } }, async (request, reply) => {
    const path = canonicalPath(request.url)
    if (RESERVED.test(path) || !acceptsHtml(request.headers.accept)) {
      reply.callNotFound()
      return reply
    }
    return pageHeaders(reply)
      .code(hasUserAppPage(path) ? 200 : 404)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('vary', 'accept-language, cookie')
      .send(appPage.render(readLocale(request) ?? brand.language, await findLinks()))
  })
}

/**
 * Builds the app and the service's bundle when the app's sources have changed since the last build.
 */
export async function ensureBuilt(log: Pick<Log, 'info'>): Promise<void> {
  if (isCurrent(USER_APP)) return
  // Production installs have no Vite, and images may have read-only sources with new times. They
  // serve the existing build.
  const isBuilt = existsSync(join(DIST, 'index.html'))
  const canBuild = hasVite()
  if (isBuilt && !(canBuild && isWritable(ROOT))) return
  if (!canBuild) {
    throw new Error(
      'the user app is not built: install all packages (npm ci), or use the release archive, which has it',
    )
  }
  log.info('building the user app (once)')
  // Runs in a separate process, because the bundler needs a gigabyte that this process would not
  // release.
  try {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'build.ts')], { cwd: ROOT })
  } catch (error) {
    throw new Error(
      `the user app cannot be built (${readReason(error)}): run \`npm run build\` where ${ROOT} can be written`,
    )
  }
}

/** Returns the path of Redoc's script: the build's copy, or the package when nothing is built. */
export function findRedoc(): string {
  const built = join(DIST, 'redoc.js')
  return existsSync(built)
    ? built
    : fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Returns the last line of the bundler's output; the first lines repeat the command. */
function readReason(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr || message).trim().split('\n').at(-1) ?? message
}

function hasVite(): boolean {
  try {
    import.meta.resolve('vite/package.json')
    return true
  } catch {
    return false
  }
}

function acceptsHtml(accept: string | undefined): boolean {
  return accept === undefined || accept.includes('text/html') || accept.includes('*/*')
}
