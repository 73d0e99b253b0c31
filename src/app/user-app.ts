/**
 * The user app's files: built when they are missing or older than their sources, then served with a strict policy. Every address
 * that is no file and no API is the app's own, so its page is the answer.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import type { App } from '#platform/http/app.ts'
import { pageHeaders } from '#platform/http/headers.ts'
import { canonicalPath } from '#platform/http/path.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { isCurrent, USER_APP } from './built.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DIST = USER_APP.folder

/** Pages behind the sign-in have nothing for search engines. */
const ROBOTS = `User-agent: *
Allow: /$
Allow: /pricing
Disallow: /
`

const YEAR_S = 31_536_000

/** Not the app's: unknown addresses below these stay 404. */
const RESERVED =
  /^\/(api|v1|mcp|sandbox|docs|redoc|assets|\.well-known|healthz|readyz|metrics|openapi\.json|sitemap\.xml|llms\.txt)(\/|$)/

/** `brand`: the name that the app shows. Letters, digits, dots and dashes, so it needs no escaping. */
export async function userAppRoutes(
  app: App,
  { log, brand }: { log: Log; brand: string },
): Promise<void> {
  await ensureBuilt(log)
  const index = readFileSync(join(DIST, 'index.html'), 'utf8').replaceAll('Latchkey', () => brand)

  await app.register(fastifyStatic, {
    root: DIST,
    index: false,
    wildcard: false,
    preCompressed: true,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders(reply, path) {
      // Vite puts a hash into the names under assets/: their content never changes.
      const forever = path.startsWith(join(DIST, 'assets'))
      reply.header('cache-control', forever ? `public, max-age=${YEAR_S}, immutable` : 'no-cache')
    },
  })

  app.get('/robots.txt', { config: { access: 'anyone' } }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(ROBOTS),
  )

  app.get('/*', { config: { access: 'anyone' } }, (request, reply) => {
    if (RESERVED.test(canonicalPath(request.url)) || !acceptsHtml(request.headers.accept)) {
      reply.callNotFound()
      return reply
    }
    return pageHeaders(reply)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(index)
  })
}

/** Builds the app when its sources have changed since the last build, and the service's bundle with it. */
export async function ensureBuilt(log: Pick<Log, 'info'>): Promise<void> {
  if (isCurrent(USER_APP)) return
  // A production install has no Vite, and an image may have its sources read-only, copied with new times: serve what was built.
  const isBuilt = existsSync(join(DIST, 'index.html'))
  const canBuild = hasVite()
  if (isBuilt && !(canBuild && isWritable(ROOT))) return
  if (!canBuild) {
    throw new Error(
      'the user app is not built: install all packages (npm ci), or use the release archive, which has it',
    )
  }
  log.info('building the user app (once)')
  // In a separate process: the bundler takes a gigabyte, which this process would not give back.
  try {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'build.ts')], { cwd: ROOT })
  } catch (error) {
    throw new Error(
      `the user app cannot be built (${readReason(error)}): run \`npm run build\` where ${ROOT} can be written`,
    )
  }
}

/** Returns the path of Redoc, one script: the build's copy, or the package where nothing is built. */
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

/** The last line of what the bundler said; the first lines are the command. */
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
