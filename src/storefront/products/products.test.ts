import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { BUCKET_KEYS, startBucket } from '#testing/bucket.ts'
import type { FileStore } from './file-store.ts'
import { openProducts } from './products.ts'
import { compareVersions, findEntitledRelease, listReleases } from './releases.ts'

const sourceOf = (products: FileStore) => ({ products, productList: { listUploaded: () => [] } })

const NOW = '2026-06-01T00:00:00.000Z'
const NO_S3 = {
  endpoint: null,
  region: 'us-east-1',
  accessKeyId: null,
  secretAccessKey: null,
  sessionToken: null,
}

const RELEASES = JSON.stringify([
  { version: '1.0.0', published_at: '2026-01-01', notes: 'first' },
  { version: '1.10.0', published_at: '2026-03-01T00:00:00Z', notes: 'third' },
  { version: '1.9.0', published_at: '2026-02-01T00:00:00Z', notes: 'second' },
  { version: '2.0.0', published_at: '2026-12-01T00:00:00Z', notes: 'not yet' },
  { version: '3.0.0', published_at: '2026-01-01T00:00:00Z', notes: 'its files never came' },
])

const CATALOGUE = {
  'pro/releases.json': RELEASES,
  'pro/1.0.0/a.txt': 'one',
  'pro/1.9.0/a.txt': 'one nine',
  'pro/1.10.0/a.txt': 'one ten',
  'pro/1.10.0/deep/ü +&%.txt': 'odd name',
  'pro/1.10.0/.DS_Store': 'litter',
  'pro/2.0.0/a.txt': 'two',
  'pro/9.9.9-draft/a.txt': 'not listed',
  'product/other.txt': 'neighbour whose name begins alike',
}

for (const [name, open] of [
  ['a folder', buildReleaseFolder],
  ['a bucket', bucketOf],
] as const) {
  test(`${name}: lists what is out, newest first`, async (t) => {
    const store = await open(t, CATALOGUE)
    const releases = await listReleases(sourceOf(store), 'pro', NOW)
    assert.deepEqual(
      releases.map(({ version, notes }) => [version, notes]),
      [
        ['1.10.0', 'third'],
        ['1.9.0', 'second'],
        ['1.0.0', 'first'],
      ],
    )
    assert.equal(releases[2]?.publishedAt, '2026-01-01T00:00:00.000Z')
    assert.deepEqual(await listReleases(sourceOf(store), 'basic', NOW), [])
  })

  test(`${name}: a purchase gets the newest release published before its entitlement ended`, async (t) => {
    const store = await open(t, CATALOGUE)
    const find = (until: string | null, version?: string) =>
      findEntitledRelease(sourceOf(store), 'pro', NOW, until, version)
    const version = async (until: string) => (await find(until))?.version
    assert.equal(await version('2027-01-01T00:00:00.000Z'), '1.10.0')
    assert.equal(await version('2026-02-15T00:00:00.000Z'), '1.9.0')
    assert.equal(await version('2026-02-01T00:00:00.000Z'), '1.0.0')
    assert.equal(await version('2025-01-01T00:00:00.000Z'), undefined)
    assert.equal((await find(null, '1.9.0'))?.notes, 'second')
    assert.equal(await find('2026-02-01T00:00:00.000Z', '1.9.0'), null)
    assert.equal(await find(null, '2.0.0'), null)
  })

  test(`${name}: reads each file, with any name, and leaves litter out`, async (t) => {
    const store = await open(t, CATALOGUE)
    const files = await store.files('pro/1.10.0')
    assert.deepEqual(
      files.map(({ path, sizeBytes }) => [path, sizeBytes]),
      [
        ['a.txt', 7],
        ['deep/ü +&%.txt', 8],
      ],
    )
    assert.equal(await text(await files[1]!.open()), 'odd name')
  })

  test(`${name}: without releases.json every version is out since its oldest file`, async (t) => {
    const store = await open(t, { 'basic/1.2.0/a.txt': 'a', 'basic/1.10.0/a.txt': 'b' })
    assert.deepEqual(
      (await listReleases(sourceOf(store), 'basic', NOW)).map(({ version }) => version),
      ['1.10.0', '1.2.0'],
    )
  })

  test(`${name}: a broken releases.json is an error that names it`, async (t) => {
    for (const broken of [
      '{',
      '{}',
      '[{"version":"../1","published_at":"2026-01-01"}]',
      '[{"version":"1.0.0"}]',
    ]) {
      const store = await open(t, { 'pro/releases.json': broken, 'pro/1.0.0/a.txt': 'a' })
      await assert.rejects(listReleases(sourceOf(store), 'pro', NOW), /pro\/releases\.json/)
    }
  })
}

test('a link in the products folder is not followed', async (t) => {
  const root = temporary(t)
  mkdirSync(join(root, 'pro/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'a')
  symlinkSync('/etc/hostname', join(root, 'pro/1.0.0/hostname'))
  symlinkSync('/etc', join(root, 'pro/1.0.0/etc'))
  const files = await openProducts({ location: root, s3: NO_S3, uploads: '' }).files('pro/1.0.0')
  assert.deepEqual(
    files.map((file) => file.path),
    ['a.txt'],
  )
})

test('keys of a bucket that would leave the folder are left out', async (t) => {
  const store = await bucketOf(t, {
    'pro/1.0.0/../../etc/passwd': 'x',
    'pro/1.0.0//a': 'x',
    'pro/1.0.0/ok': 'x',
  })
  assert.deepEqual(
    (await store.files('pro/1.0.0')).map((file) => file.path),
    ['ok'],
  )
})

test('a bucket that refuses the key is reported; a busy one is retried', async (t) => {
  const refusing = await bucketOf(t, CATALOGUE, { secretAccessKey: 'wrong' })
  await assert.rejects(refusing.files('pro/1.0.0'), /403 SignatureDoesNotMatch/)

  const busy = await bucketOf(t, CATALOGUE, {}, 2)
  assert.equal((await busy.files('pro/1.0.0')).length, 1)
})

test('versions are compared as numbers, and a pre-release comes before its release', () => {
  const sorted = ['1.0.0-alpha', '1.0.0-beta', '1.0.0', '1.2.0', '1.9.9', '1.10.0', '2.0.0']
  assert.deepEqual([...sorted].reverse().sort(compareVersions), sorted)
})

test('the sample sells three tiers in two versions, each holding the one below', async () => {
  const store = openProducts({ location: null, s3: NO_S3, uploads: '' })
  const paths: Record<string, string[]> = {}
  for (const tier of ['basic', 'pro', 'enterprise']) {
    const releases = await listReleases(sourceOf(store), tier, NOW)
    assert.deepEqual(
      releases.map(({ version }) => version),
      ['1.1.0', '1.0.0'],
    )
    assert.ok(releases.every(({ notes }) => notes.length > 20))
    paths[tier] = (await store.files(`${tier}/1.1.0`)).map((file) => file.path)
  }
  assert.ok(paths.basic!.includes('README.md') && paths.basic!.includes('.github/workflows/ci.yml'))
  assert.ok(paths.basic!.every((path) => paths.pro!.includes(path)))
  assert.ok(paths.pro!.every((path) => paths.enterprise!.includes(path)))
  assert.ok(paths.enterprise!.includes('training/prepare.py'))
})

async function buildReleaseFolder(
  t: TestContext,
  files: Record<string, string>,
): Promise<FileStore> {
  const root = temporary(t)
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    utimesSync(file, new Date('2026-01-01'), new Date('2026-01-01'))
  }
  return openProducts({ location: root, s3: NO_S3, uploads: '' })
}

async function bucketOf(
  t: TestContext,
  files: Record<string, string>,
  change = {},
  failures = 0,
): Promise<FileStore> {
  const objects = Object.fromEntries(
    Object.entries(files).map(([key, content]) => [`shop/v1/${key}`, content]),
  )
  const endpoint = await startBucket(t, objects, { failures })
  return openProducts({
    location: 's3://products-bucket/shop/v1/',
    uploads: '',
    s3: { endpoint, region: 'eu-central-1', ...BUCKET_KEYS, sessionToken: null, ...change },
  })
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'products-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('files of a release that are not delivered are reported with the reason', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'pro/1.0.0/empty'), { recursive: true })
  for (const name of ['a.txt', 'back\\slash.txt', 'c:drive.txt', '.DS_Store'])
    writeFileSync(join(root, 'pro/1.0.0', name), 'x')
  symlinkSync('/etc/hosts', join(root, 'pro/1.0.0/link'))
  const left = new Map<string, string>()
  const leaveOut = (path: string, reason: string) => void left.set(path, reason)
  const store = openProducts({ location: root, s3: NO_S3, uploads: '' }, { leaveOut })
  assert.deepEqual(
    (await store.files('pro/1.0.0')).map(({ path }) => path),
    ['a.txt'],
  )
  assert.deepEqual(Object.fromEntries(left), {
    'pro/1.0.0/back\\slash.txt': 'its name cannot be unpacked on every system',
    'pro/1.0.0/c:drive.txt': 'its name cannot be unpacked on every system',
    'pro/1.0.0/empty': 'an empty folder',
    'pro/1.0.0/link': 'a symbolic link',
  })
})

test('listings are cached for 15 seconds, and stay the same array while nothing changes', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'pro/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'a')
  let nowMs = 0
  const store = openProducts(
    { location: root, s3: NO_S3, uploads: '' },
    { clock: { ms: () => nowMs } },
  )
  const first = await store.files('pro/1.0.0')
  nowMs = 20_000
  assert.equal(await store.files('pro/1.0.0'), first)
  writeFileSync(join(root, 'pro/1.0.0/b.txt'), 'b')
  assert.equal((await store.files('pro/1.0.0')).length, 1)
  nowMs = 40_000
  assert.equal((await store.files('pro/1.0.0')).length, 2)
  assert.deepEqual(await store.folders('pro'), ['1.0.0'])
})
