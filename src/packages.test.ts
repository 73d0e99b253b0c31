// `npm ci --omit=dev && npm start` is a whole service: what runs, and what builds the user app at the first start, is no development package.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

const { dependencies, devDependencies, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  engines: { node: string }
}
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dev?: boolean; devOptional?: boolean }>
}

const sources = globSync(['latchkey.js', 'src/**/*.ts', 'web/*.ts', 'web/src/**/*.{ts,tsx,css}'], { cwd: ROOT }).filter(
  // The last holds examples for clients, which import what they like.
  (file) => !/\.test\.tsx?$|^src\/testing\/|^web\/src\/api-keys\/snippet-text\.ts$/.test(file),
)

test('every package that the service or the user app imports is installed in production', () => {
  const missing: string[] = []
  for (const file of sources) {
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
    // Types are gone before anything runs.
    const imports = text.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gms)
    const dynamic = text.matchAll(/(?:import|lazyRequire<[^(]*)\(\s*'([^']+)'/g)
    for (const [, specifier = ''] of [...imports, ...dynamic]) {
      if (/^[./#]/.test(specifier) || isBuiltin(specifier)) continue
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      if (!(name in dependencies)) missing.push(`${file} imports ${specifier}`)
    }
  }
  assert.deepEqual(missing, [])
  assert.ok(sources.length > 300, `${sources.length} sources`)
})

test('the Node that runs the service and the bundler that builds the user app come with a production install', () => {
  for (const name of ['node', 'vite', '@vitejs/plugin-react']) {
    assert.ok(name in dependencies, name)
    assert.ok(!(name in devDependencies), name)
    const installed = lock.packages[`node_modules/${name}`]
    assert.ok(installed && !installed.dev && !installed.devOptional, name)
  }
  // npm start brings its own Node; what must be there already is npm's.
  assert.equal(engines.node, '>=20')
})
