// `npm run build`: a start after it builds nothing and runs the bundle, which serves as the sources
// do; once a source has changed, the sources run.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { buildPdf, drawLines } from '../src/rag/ingest/parsers/samples.ts'
import { call, freePorts } from '../src/testing/app.ts'

const ROOT = join(import.meta.dirname, '..')
let tree = ''

before(() => {
  tree = mkdtempSync(join(tmpdir(), 'latchkey-build-'))
  for (const path of ['package.json', 'latchkey.js', 'docs', 'scripts', 'src']) {
    const filter = (name: string) => !/\.test\.ts$|src\/testing/.test(name)
    cpSync(join(ROOT, path), join(tree, path), { recursive: true, filter })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  // An app that is built in a moment.
  mkdirSync(join(tree, 'web'))
  writeFileSync(join(tree, 'web', 'index.html'), '<!doctype html><title>One</title>')
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: tree })
})
after(() => rmSync(tree, { recursive: true, force: true }))

test('a start builds the user app again only when a source has changed', () => {
  const code = `import('./src/app/user-app.ts').then(({ ensureBuilt }) => ensureBuilt({ info: console.log }))`
  const ensure = () =>
    execFileSync(process.execPath, ['--eval', code], { cwd: tree, encoding: 'utf8' })
  assert.equal(ensure(), '')
  writeFileSync(join(tree, 'web', 'index.html'), '<!doctype html><title>Another one</title>')
  assert.equal(ensure(), 'building the user app (once)\n')
  assert.equal(ensure(), '')
})

test('the bundle walks the main path, parses and hashes on its threads, and ends on a signal', async () => {
  const lease = join(tree, 'lease.pdf')
  writeFileSync(
    lease,
    buildPdf([drawLines(['Terms of the lease']), drawLines(['Notice is three months.'])]),
  )
  const modules = await modulesOf(async (url, storefront) => {
    for (const file of [join(ROOT, 'src', 'cli', 'tour', 'handbook.md'), lease]) {
      const tour = [
        join(ROOT, 'src', 'cli', 'main.ts'),
        'tour',
        file,
        '--url',
        url,
        '--storefront',
        storefront,
      ]
      const { stdout } = await promisify(execFile)(process.execPath, tour, { cwd: tree })
      assert.match(stdout, /Tour completed/)
    }
    for (const path of [
      '/',
      '/docs/',
      '/redoc/redoc.js',
      '/openapi.json',
      '/api/billing/plans',
      '/metrics',
    ])
      assert.equal((await call(url, 'GET', path)).status, path === '/metrics' ? 401 : 200, path)
  })
  assert.ok(modules.includes('dist/main.js'), modules.join('\n'))
  assert.equal(modules.includes('src/main.ts'), false)
})

test('once a source has changed the sources run', async () => {
  const main = join(tree, 'src', 'main.ts')
  writeFileSync(main, `${readFileSync(main, 'utf8')}\n// changed\n`)
  const modules = await modulesOf(async () => {})
  assert.ok(modules.includes('src/main.ts'))
  assert.equal(modules.includes('dist/main.js'), false)
})

/**
 * Runs the service of the tree while `use` lasts. @returns its modules that were loaded, as paths
 * below the tree
 */
async function modulesOf(
  use: (url: string, storefront: string) => Promise<void>,
): Promise<string[]> {
  const [port = 0, storefrontPort = 0] = await freePorts(2)
  const coverage = mkdtempSync(join(tree, 'coverage-'))
  const service = spawn(process.execPath, ['latchkey.js'], {
    cwd: tree,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_V8_COVERAGE: coverage,
      LOG_LEVEL: 'error',
      PORT: String(port),
      STOREFRONT_PORT: String(storefrontPort),
      DATA_DIR: mkdtempSync(join(tree, 'data-')),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exit = once(service, 'exit')
  const url = `http://127.0.0.1:${port}`
  try {
    while ((await call(url, 'GET', '/healthz').catch(() => null))?.status !== 200) {
      assert.equal(service.exitCode, null, 'the service runs')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await use(url, `http://127.0.0.1:${storefrontPort}`)
  } finally {
    service.kill('SIGTERM')
  }
  assert.deepEqual(await exit, [0, null])
  const folder = new URL(`${pathToFileURL(tree)}/`).href
  return globSync('*.json', { cwd: coverage }).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {
      result: { url: string }[]
    }
    return result
      .filter((one) => one.url.startsWith(folder))
      .map((one) => one.url.slice(folder.length))
  })
}
