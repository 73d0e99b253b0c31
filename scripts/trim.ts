/**
 * For an image: takes out of node_modules what only builds the user app, and what of the other packages nothing reads at run time.
 * The user app has to be built before. `npx node scripts/trim.ts`, in a copy that may be changed.
 */
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

type Package = {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

const ROOT = join(import.meta.dirname, '..')
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Required<Package>
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Package> }

/** The bundler, which the service asks only to build the user app; and the Node that an image has elsewhere. */
const BUILDS = new Set(['vite', 'node'])
/** One file of it is served, which has all that it needs in it. */
const BUNDLED: Record<string, string> = { redoc: 'bundles/redoc.standalone.js' }

if (!existsSync(join(ROOT, 'web', 'dist', 'index.html'))) throw new Error('the user app is not built: npm run build')

const sources = globSync('src/**/*.ts', { cwd: ROOT })
  .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('src/testing/'))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
const kept = new Set<string>()
for (const name of Object.keys(dependencies).filter(isNamed)) keep('', name)
const removed = installed('').filter((path) => !kept.has(path))
for (const path of removed) rmSync(join(ROOT, path), { recursive: true, force: true })
for (const [name, file] of Object.entries(BUNDLED)) onlyFile(join('node_modules', name), file)
const files = globSync('node_modules/**/*.{map,d.ts,d.mts,d.cts,md,markdown,flow}', { cwd: ROOT })
/** What the service asks of pdfjs stands under legacy/. */
const unread = ['node_modules/pdfjs-dist/build', 'node_modules/pdfjs-dist/web', 'node_modules/pdfjs-dist/types']
const foreign = globSync('node_modules/*/prebuilds/*', { cwd: ROOT }).filter(
  (path) => !path.endsWith(`${process.platform}-${process.arch}`),
)
for (const path of [...files, ...foreign, ...unread]) rmSync(join(ROOT, path), { recursive: true, force: true })
console.log(`${removed.length} packages and ${files.length} files taken out, ${kept.size} packages stay`)

/** Whether the service's sources name it: imported, required or resolved. */
function isNamed(name: string): boolean {
  if (BUILDS.has(name)) return false
  const quoted = new RegExp(`['"]${name.replaceAll('.', '\\.')}(?:/[^'"]*)?['"]`)
  return sources.some((text) => quoted.test(text))
}

/** With what it needs itself, as it is installed: beside it, or further up. */
function keep(from: string, name: string): void {
  const path = whereIs(from, name)
  if (path === null || kept.has(path)) return
  kept.add(path)
  if (name in BUNDLED) return
  const needs = lock.packages[path] ?? {}
  const peers = Object.keys(needs.peerDependencies ?? {}).filter(
    (peer) => !needs.peerDependenciesMeta?.[peer]?.optional,
  )
  for (const needed of [...Object.keys({ ...needs.dependencies, ...needs.optionalDependencies }), ...peers]) {
    keep(path, needed)
  }
}

function whereIs(from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in lock.packages && existsSync(join(ROOT, path))) return path
    if (folder === '') return null
  }
}

function installed(below: string): string[] {
  const folder = join(below, 'node_modules')
  if (!existsSync(join(ROOT, folder))) return []
  const names = readdirSync(join(ROOT, folder)).filter((name) => !name.startsWith('.'))
  const packages = names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(ROOT, folder, name)).map((inner) => `${name}/${inner}`) : [name],
  )
  return packages.flatMap((name) => [`${folder}/${name}`, ...installed(`${folder}/${name}`)])
}

function onlyFile(folder: string, file: string): void {
  for (const path of globSync('**/*', { cwd: join(ROOT, folder) })) {
    if (path === file || path === 'package.json' || file.startsWith(`${path}/`)) continue
    rmSync(join(ROOT, folder, path), { recursive: true, force: true })
  }
}
