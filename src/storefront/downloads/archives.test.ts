import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LiveBrand } from '#brand/live.ts'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#platform/secrets.ts'
import { openProducts } from '../products/products.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { buildArchive, findKnownArchive } from './archives.ts'

const NO_S3 = {
  endpoint: null,
  region: 'us-east-1',
  accessKeyId: null,
  secretAccessKey: null,
  sessionToken: null,
}

test('an archive is planned once for a buyer and a release, and anew when a file has changed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'archives-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'pro/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'a'.repeat(1000))

  let ms = Date.parse('2027-01-01')
  const clock = { ms: () => ms, now: () => new Date(ms).toISOString() }
  const saltKey = randomBytes(32)
  const secrets = {
    open: (_: string, sealed: string) => sealed,
    key: () => saltKey,
  } as unknown as Secrets
  const config = { dataDir: join(root, 'data'), brand: new LiveBrand('kit') } as unknown as Config
  const products = openProducts({ location: root, s3: NO_S3, uploads: '' }, { clock })
  const productList = { listUploaded: () => [] }
  const deps = { config, clock, secrets, products, productList }
  const purchase = (key: string) =>
    ({
      tier: 'pro',
      entitled_until: '2028-01-01T00:00:00.000Z',
      license_sealed: key,
    }) as PurchaseRow

  const [ada, eve] = [purchase('LK-ADA'), purchase('LK-EVE')]
  const first = await buildArchive(deps, ada)
  assert.ok(first)
  assert.equal(await buildArchive(deps, ada), first)
  ms += 60_000
  assert.equal(await findKnownArchive(deps, ada), first)
  assert.notEqual((await buildArchive(deps, eve))?.etag, first.etag)

  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'b'.repeat(1001))
  ms += 60_000
  const changed = await buildArchive(deps, ada)
  assert.notEqual(changed?.etag, first.etag)

  // The cache may be emptied at any time.
  rmSync(join(root, 'data/cache'), { recursive: true })
  assert.equal(await findKnownArchive(deps, ada), null)
  assert.equal((await buildArchive(deps, ada))?.etag, changed?.etag)
})
