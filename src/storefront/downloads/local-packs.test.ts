import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LiveBrand } from '#brand/live.ts'
import type { Config } from '#config/config.ts'
import { systemClock } from '#platform/clock.ts'
import type { Secrets } from '#platform/secrets.ts'
import type { FileStore } from '../products/file-store.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { findKnownArchive } from './archives.ts'
import { LocalPacks } from './local-packs.ts'

type Deps = ConstructorParameters<typeof LocalPacks>[0]

const GB = 1024 ** 3
const WAIT_MS = 10_000

test('every release is compressed before its first download, the newest first', async (t) => {
  const shelf = openShelf(t, { '1.0.0': 100, '2.0.0': 100 })
  await shelf.wait(2)
  assert.deepEqual(shelf.opened, ['2.0.0', '1.0.0'])
  const find = async (entitled_until: string) => {
    const purchase = { tier: 'pro', entitled_until, license_sealed: 'LK-1' } as PurchaseRow
    return (await findKnownArchive(shelf.deps, purchase))?.version
  }
  assert.equal(await find('2026-01-15T00:00:00.000Z'), '1.0.0', 'for a buyer without updates')
  assert.equal(await find('2027-01-15T00:00:00.000Z'), '2.0.0')

  shelf.sizes['3.0.0'] = 100
  shelf.reload()
  await shelf.wait(3)
  assert.deepEqual(shelf.opened, ['2.0.0', '1.0.0', '3.0.0'])
})

test('older releases beyond 5 GB together wait for their first download', async (t) => {
  const shelf = openShelf(t, { '1.0.0': 6 * GB, '2.0.0': 5 * GB, '3.0.0': 90 * GB })
  await shelf.wait(2)
  await sleep(100)
  assert.deepEqual(shelf.opened, ['3.0.0', '2.0.0'])
})

test('the files of a product that cannot be read do not keep others from being compressed', async (t) => {
  const shelf = openShelf(t, { '1.0.0': 100 }, [{ tier: 'broken' }, { tier: 'pro' }])
  await shelf.wait(1)
  assert.deepEqual(shelf.opened, ['1.0.0'])
  assert.equal(shelf.errors.length, 1)
})

/** A product with releases of the given sizes, one a month, and the packs that follow them. */
function openShelf(t: TestContext, sizes: Record<string, number>, known = [{ tier: 'pro' }]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'local-packs-'))
  const opened: string[] = []
  const errors: unknown[] = []
  let reload = () => {}
  const products: FileStore = {
    folders: async () => Object.keys(sizes),
    async files(under) {
      const version = under.replace('pro/', '')
      const open = async () => {
        opened.push(version)
        return Readable.from([Buffer.from(version)])
      }
      const sizeBytes = sizes[version] ?? 0
      const file = { path: 'a.txt', tag: version, modifiedAt: new Date(), executable: false }
      return [{ ...file, sizeBytes, open }]
    },
    async text(path) {
      if (path.startsWith('broken')) return 'no JSON'
      const releases = Object.keys(sizes).map((version) => ({
        version,
        published_at: `2026-0${version[0]}-01T00:00:00.000Z`,
      }))
      return JSON.stringify(releases)
    },
    put: async () => {},
    remove: async () => {},
  }
  const deps = {
    config: { dataDir, brand: new LiveBrand('kit') } as unknown as Config,
    clock: systemClock,
    secrets: {
      open: (_: string, sealed: string) => sealed,
      key: () => Buffer.alloc(32),
    } as unknown as Secrets,
    log: { error: (details: unknown) => void errors.push(details) } as unknown as Deps['log'],
    products,
    productList: {
      known: known as unknown as Deps['productList']['known'],
      listUploaded: () => [],
      onReload: (listener: () => void) => {
        reload = listener
      },
    },
  }
  const packs = new LocalPacks(deps)
  packs.follow()
  t.after(async () => {
    await packs.drain(WAIT_MS)
    rmSync(dataDir, { recursive: true, force: true })
  })
  return {
    deps,
    sizes,
    opened,
    errors,
    reload: () => reload(),
    async wait(count: number) {
      const endMs = Date.now() + WAIT_MS
      while (opened.length < count && Date.now() < endMs) await sleep(10)
      await sleep(100)
    },
  }
}
