// Several nodes on one database: each has its own DATA_DIR, and all share PRODUCTS_DIR.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { ON_EMBEDDED, ON_POSTGRES } from '#testing/database.ts'
import { writeZip } from '#testing/zip.ts'

const ON_SERVER = { skip: ON_EMBEDDED || (!ON_POSTGRES && 'SQLite has one node') }
const ZIP = writeZip([{ name: 'guide.md', content: '# Field guide' }])
const WAIT_MS = 60_000

test(
  'a release uploaded at one node is packed by another, and every node is ready for its first buyer',
  ON_SERVER,
  async (t) => {
    const shared = temporaryFolder(t)
    const env = {
      SECRET_KEY: 'a secret of the operator',
      PRODUCTS_DIR: join(shared, 'products'),
      ORIGINALS_DIR: join(shared, 'originals'),
    }
    const one = await openShop(t, env)
    const two = await testApp(t, {
      onData: { dataDir: temporaryFolder(t), databaseUrl: one.config.databaseUrl },
      env,
    })
    const root = await one.as('root', { superuser: true })
    const product = { tier: 'guide', name: 'Field guide', price: 49, currency: 'usd' }
    assert.equal((await root.post('/api/admin/products', product)).status, 201)
    const releases = '/api/admin/products/guide/releases'
    const form = new FormData()
    form.append('version', '1.0.0')
    form.append('file', new Blob([new Uint8Array(ZIP)]), 'guide.zip')
    assert.equal((await root.post(releases, form)).status, 201)

    await two.settle()
    const atTwo = listPacks(two.dataDir)
    assert.equal(atTwo.length, 1, 'the job of the other node packs the upload')
    assert.deepEqual(listPacks(one.dataDir), [])

    // Published where the job ran, so the first node learns of the release from the database.
    const there = await two.as('root', { superuser: true })
    const published = await there.post(`${releases}/1.0.0/publish`)
    assert.equal(published.status, 200, published.text)
    const endMs = Date.now() + WAIT_MS
    while (listPacks(one.dataDir).length === 0 && Date.now() < endMs) await sleep(20)
    assert.deepEqual(listPacks(one.dataDir), atTwo, 'before any download')

    const ada = await one.buyer('ada')
    await one.buy(ada, 'guide')
    const whole = await ada.download()
    assert.equal(whole.status, 200)
    // A download that broke off at one node continues at the other, with the same bytes.
    const etag = whole.headers.get('etag') ?? ''
    const rest = await fetch(`${two.storefrontUrl}/api/download`, {
      headers: { cookie: ada.cookie, range: 'bytes=10-', 'if-range': etag },
    })
    assert.equal(rest.status, 206)
    assert.deepEqual(Buffer.from(await rest.arrayBuffer()), whole.bytes.subarray(10))
  },
)

function listPacks(dataDir: string): string[] {
  const folder = join(dataDir, 'cache', 'releases')
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => name.endsWith('.pack'))
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-nodes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
