/**
 * The user app's files: built when they are missing or older than their sources, then served with a strict policy. Every address
 * that is no file and no API is the app's own, so its page is the answer.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import type { App } from '#platform/http/app.ts'
import { pageHeaders } from '#platform/http/headers.ts'
import { canonicalPath } from '#platform/http/path.ts'
import type { Log } from '#platform/telemetry/log.ts'

const WEB = join(import.meta.dirname, '..', 'web')
const DIST = join(WEB, 'dist')
const STAMP = join(DIST, '.sources')

const YEAR_S = 31_536_000

/** Not the app's: unknown addresses below these stay 404. */
const RESERVED = /^\/(api|v1|mcp|sandbox|docs|redoc|assets|\.well-known|healthz|readyz|metrics|openapi\.json)(\/|$)/

export async function userAppRoutes(app: App, log: Log): Promise<void> {
  await ensureBuilt(log)
  const index = readFileSync(join(DIST, 'index.html'), 'utf8')

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

  app.get('/*', { config: { access: 'anyone' } }, (request, reply) => {
    if (RESERVED.test(canonicalPath(request.url)) || !acceptsHtml(request.headers.accept)) {
      reply.callNotFound()
      return reply
    }
    return pageHeaders(reply).type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(index)
  })
}

/** Runs Vite when the sources have changed since the last build. In an image that left Vite out, what is there is served. */
export async function ensureBuilt(log: Pick<Log, 'info' | 'warn'>): Promise<void> {
  const sources = fingerprint()
  const built = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : null
  if (built === sources) return

  const vite = findVite()
  if (vite === null) {
    if (existsSync(join(DIST, 'index.html'))) return
    throw new Error('the user app is not built: run `npm run build` where Vite is installed (npm ci)')
  }
  log.info('building the user app (once)')
  // In a process of its own: a bundler takes a gigabyte, and this one would keep it.
  try {
    await promisify(execFile)(process.execPath, [vite, 'build', WEB, '--logLevel', 'warn'], { cwd: WEB })
    writeFileSync(STAMP, sources)
  } catch (error) {
    // An image with its sources read-only, copied with new times: what is there is what was meant.
    if (!isWritable(WEB) && existsSync(join(DIST, 'index.html'))) return
    throw new Error(
      `the user app cannot be built (${reasonOf(error)}): run \`npm run build\` where ${WEB} can be written`,
    )
  }
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
function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr || message).trim().split('\n').at(-1) ?? message
}

/** The bundler's command; null in an image that left it out. */
function findVite(): string | null {
  try {
    return fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')))
  } catch {
    return null
  }
}

/** Names, sizes and times of the sources: cheap enough for every start. */
function fingerprint(): string {
  const hash = createHash('sha256')
  for (const file of globSync('**/*', { cwd: WEB, exclude: (name) => /^(dist|node_modules)$/.test(name) }).sort()) {
    const stat = statSync(join(WEB, file))
    if (stat.isFile()) hash.update(`${file}\0${stat.size}\0${stat.mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function acceptsHtml(accept: string | undefined): boolean {
  return accept === undefined || accept.includes('text/html') || accept.includes('*/*')
}
