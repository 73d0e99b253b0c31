/**
 * `npm run build`, and the first start: builds the user app (web/dist) and the bundle of the
 * service (dist). Each gets a stamp of its sources, so that a start can check whether it is
 * current.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { BUNDLE, fingerprint, USER_APP } from '../src/app/built.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * Packages that are not bundled, because they read files beside their modules or start threads with
 * them.
 */
const SEPARATE = new Set([
  '@fastify/swagger',
  '@fastify/swagger-ui',
  'altcha-lib',
  'ioredis',
  'pdfjs-dist',
  'pino',
  'piscina',
  'redoc',
  'usearch',
])

await buildUserApp()
await bundleService()

async function buildUserApp(): Promise<void> {
  const sources = fingerprint(USER_APP)
  const vite = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')))
  const web = dirname(USER_APP.folder)
  // In a separate process, because its plugins set environment variables (NODE_ENV).
  execFileSync(process.execPath, [vite, 'build', web, '--logLevel', 'warn'], {
    cwd: web,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(USER_APP.stamp, sources)
}

/**
 * Joins the modules that a start loads, some 2,000 files, into a few: Node then finds and links
 * them with half the work.
 */
async function bundleService(): Promise<void> {
  const sources = fingerprint(BUNDLE)
  const bundle = await rolldown({
    input: join(ROOT, 'src', 'main.ts'),
    platform: 'node',
    external: (id) => SEPARATE.has(readPackageName(id)),
    plugins: [besideSources()],
  })
  await bundle.write({ dir: BUNDLE.folder, cleanDir: true, chunkFileNames: '[name].js' })
  writeFileSync(BUNDLE.stamp, sources)
}

function readPackageName(id: string): string {
  return id.split('/', id.startsWith('@') ? 2 : 1).join('/')
}

/** Lets a module of the service find its files (SQL, lists, threads) in src/, where they stay. */
function besideSources(): Plugin {
  const beside = /\bimport\.meta\.(dirname|filename|url)\b|\b__(dirname|filename)\b/
  return {
    name: 'latchkey-beside-sources',
    transform: {
      filter: { code: beside },
      handler(code, id) {
        if (id.includes('node_modules')) {
          throw new Error(`${id} reads files beside its module: add its package to SEPARATE`)
        }
        const path = relative(BUNDLE.folder, id).replaceAll('\\', '/')
        const url = `new URL(${JSON.stringify(path)}, __bundle).href`
        const folder = `fileURLToPathOfBundle(new URL(${JSON.stringify(dirname(path))}, __bundle))`
        const head = `import { fileURLToPath as fileURLToPathOfBundle } from 'node:url'; const __bundle = import.meta.url;`
        return `${head}${code.replaceAll(/\bimport\.meta\.url\b/g, url).replaceAll(/\bimport\.meta\.dirname\b/g, folder)}`
      },
    },
  }
}
