// A production install (`npm ci --omit=dev`) contains the packages that the service imports, and
// none that only the build of the user app needs.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')

const { dependencies, devDependencies, engines } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  engines: { node: string }
}
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean; devOptional?: boolean }>
}

const filesOf = (pattern: string | string[]) =>
  globSync(pattern, { cwd: ROOT }).filter(
    // The last holds examples for clients, which import what they like.
    (file) => !/\.test\.tsx?$|^src\/testing\/|^web\/src\/api-keys\/snippet-text\.ts$/.test(file),
  )
const ofService = filesOf(['latchkey.js', 'src/**/*.ts'])
const ofUserApp = filesOf(['web/*.ts', 'web/src/**/*.{ts,tsx,css}'])

/** Packages that the file imports, requires or resolves; types are gone before anything runs. */
function packagesOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
  const imports = text.matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gms,
  )
  const dynamic = text.matchAll(
    /(?:import|require|createRequire\(import\.meta\.url\)|require\.resolve|meta\.resolve|lazyRequire<[^(]*)\(\s*'([^']+)'/g,
  )
  return [...imports, ...dynamic]
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !/^[./#]/.test(specifier) && !isBuiltin(specifier))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
}

/**
 * Resolved by the service only where the development packages are: to build the user app, or to do
 * without the build's copy.
 */
const TO_BUILD = new Set(['vite', 'redoc'])

test('every package that the service imports is installed in production', () => {
  const missing = ofService.flatMap((file) =>
    packagesOf(file)
      .filter((name) => !(name in dependencies) && !TO_BUILD.has(name))
      .map((name) => `${file} imports ${name}`),
  )
  assert.deepEqual(missing, [])
  assert.ok(ofService.length > 300, `${ofService.length} sources`)
})

test('no package is installed in production that only the user app or what builds it imports', () => {
  const imported = new Set(ofService.flatMap(packagesOf))
  // Node runs the service, and no source imports it.
  const idle = Object.keys(dependencies).filter((name) => !imported.has(name) && name !== 'node')
  assert.deepEqual(idle, [])
  for (const name of TO_BUILD) assert.ok(name in devDependencies, name)
})

test('every package that the user app imports is installed where it is built', () => {
  const missing = ofUserApp.flatMap((file) =>
    packagesOf(file)
      .filter((name) => !(name in dependencies) && !(name in devDependencies))
      .map((name) => `${file} imports ${name}`),
  )
  assert.deepEqual(missing, [])
  assert.ok(ofUserApp.length > 100, `${ofUserApp.length} sources`)
})

test('the Node that runs the service comes with a production install', () => {
  const installed = lock.packages['node_modules/node']
  assert.ok(installed && !installed.dev && !installed.devOptional)
  // npm start brings its own Node; what must be there already is npm's.
  assert.equal(engines.node, '>=20')
})
