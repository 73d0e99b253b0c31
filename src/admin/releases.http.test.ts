import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'
import { ProductList } from '#storefront/products/product-list.ts'
import { openProducts } from '#storefront/products/products.ts'
import { uploadRelease } from '#storefront/products/release-editing.ts'
import { BUCKET_KEYS, startBucket } from '#testing/bucket.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { writeZip } from '#testing/zip.ts'

const COURSE = { tier: 'course', name: 'Course', price: 49, currency: 'usd' }
const RELEASES = '/api/admin/products/course/releases'

test('a product made in the app is uploaded, published, bought, downloaded and refunded', async (t) => {
  const { shop, root } = await openDesk(t)
  const plus = { ...COURSE, tier: 'course_plus', name: 'Course plus', price: 89 }
  await root.post('/api/admin/products', {
    ...plus,
    upgrade_from: { course: 'difference' },
    includes: 'Everything in Course',
  })
  const ada = await shop.buyer('ada')
  assert.equal((await ada.get('/api/checkout?tier=course')).status, 409, 'no release yet')

  const uploaded = await upload(root, '1.0.0', { notes: '- **First** release' })
  assert.equal(uploaded.status, 201, uploaded.text)
  const { status, is_complete, file_count, size_bytes, left_out, sha256 } = uploaded.body
  assert.deepEqual(
    [status, is_complete, file_count, size_bytes, sha256],
    ['draft', true, 2, 12, null],
  )
  assert.deepEqual(left_out, [{ path: '.DS_Store', reason: 'a file of a system or a tool' }])
  assert.equal((await ada.get('/api/checkout?tier=course')).status, 409, 'a draft is not sold')
  const packs = join(shop.config.dataDir, 'cache', 'releases')
  assert.equal(existsSync(packs), false)
  await shop.settle()
  assert.notDeepEqual(readdirSync(packs), [], 'a job packs the draft')

  const published = await root.post(`${RELEASES}/1.0.0/publish`)
  assert.equal(published.status, 200, published.text)
  assert.match(published.body.sha256, /^[0-9a-f]{64}$/)
  assert.equal(published.body.status, 'published')
  await shop.buy(ada, 'course')
  assert.deepEqual(await readDownload(ada), { 'a.txt': 'hello', 'b/run': 'world!\n' })

  await upload(root, '1.0.0', {}, '/api/admin/products/course_plus/releases')
  await root.post('/api/admin/products/course_plus/releases/1.0.0/publish')
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual(purchase.upgrades, [
    { tier: 'course_plus', name: 'Course plus', amount_cents: 4_000, currency: 'usd' },
  ])

  const refunded = await root.post(`/api/admin/purchases/${purchase.id}/refund`, { reason: 'test' })
  assert.equal(refunded.status, 200, refunded.text)
  await shop.settle()
  assert.equal((await ada.download()).status, 403)
})

test('a new release gives new downloads, and a withdrawn one gives back the one before', async (t) => {
  const { shop, root } = await openDesk(t)
  await publish(root, '1.0.0')
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'course')
  const version = async () => (await ada.get('/api/purchases')).body[0].version
  assert.equal(await version(), '1.0.0')

  shop.clock.advance(1_000)
  await publish(root, '1.1.0')
  assert.equal(await version(), '1.1.0')
  const withdrawn = await root.post(`${RELEASES}/1.1.0/withdraw`)
  assert.deepEqual([withdrawn.status, withdrawn.body.status], [200, 'withdrawn'])
  assert.equal(await version(), '1.0.0')
  assert.equal((await root.post(`${RELEASES}/1.1.0/withdraw`)).body.code, 'release_not_published')

  const before = withdrawn.body.published_at
  shop.clock.advance(1_000)
  const again = (await root.post(`${RELEASES}/1.1.0/publish`)).body
  assert.deepEqual([again.published_at, again.withdrawn_at], [before, null])
  assert.equal(await version(), '1.1.0')
  assert.equal((await root.post(`${RELEASES}/1.1.0/publish`)).body.code, 'release_not_publishable')
  const { releases } = (await root.get(RELEASES)).body
  assert.deepEqual(
    releases.map((one: { version: string; status: string }) => [one.version, one.status]),
    [
      ['1.1.0', 'published'],
      ['1.0.0', 'published'],
    ],
  )
})

test('a buyer is emailed about a new release, unless it is withdrawn within five minutes', async (t) => {
  const { shop, root } = await openDesk(t)
  await publish(root, '1.0.0')
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'course')
  const readSubjects = async () => (await shop.mail(ada.email)).map(({ subject }) => subject)
  const isNews = (subject: string) => subject.startsWith('New release')
  shop.clock.advance(1_000)
  await publish(root, '1.1.0')
  await root.post(`${RELEASES}/1.1.0/withdraw`)
  shop.clock.advance(6 * 60_000)
  await shop.settle()
  assert.equal((await readSubjects()).some(isNews), false)
  await publish(root, '1.2.0')
  shop.clock.advance(6 * 60_000)
  await shop.settle()
  assert.match((await readSubjects()).find(isNews) ?? '', /Course 1\.2\.0/)
})

test('the update feed offers an uploaded release with the checksum of its publication', async (t) => {
  const { shop, root } = await openDesk(t)
  await publish(root, '1.0.0')
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'course')
  const key = (await ada.download()).headers.get('x-license-key')
  shop.clock.advance(1_000)
  const { sha256 } = await publish(root, '1.1.0')
  const headers = { authorization: `Bearer ${key}` }
  const update = await shop.store('GET', '/api/updates/course?version=1.0.0', { headers })
  assert.equal(update.status, 200, update.text)
  assert.deepEqual([update.body.version, update.body.sha256], ['1.1.0', sha256])
})

test('notes can be corrected, and only drafts deleted, with their files', async (t) => {
  const products = temporaryFolder(t)
  const { root } = await openDesk(t, { PRODUCTS_DIR: products })
  const folder = join(products, 'course/_uploaded')
  await publish(root, '1.0.0')
  await upload(root, '1.1.0')
  assert.equal(readdirSync(folder).length, 2)
  const corrected = await root.patch(`${RELEASES}/1.0.0`, { notes: 'Better' })
  assert.deepEqual([corrected.status, corrected.body.notes], [200, 'Better'])

  assert.equal((await root.delete(`${RELEASES}/1.0.0`)).body.code, 'release_not_draft')
  assert.equal((await root.delete(`${RELEASES}/1.1.0`)).status, 200)
  assert.equal((await root.delete(`${RELEASES}/1.1.0`)).status, 404)
  assert.equal(readdirSync(folder).length, 1)
  assert.equal((await upload(root, '1.1.0')).status, 201, 'the version is free again')
})

test('in production with DATABASE_URL, a release needs a folder that every node can read', async (t) => {
  const { shop } = await openDesk(t)
  const config = { ...shop.config, production: true, databaseUrl: 'postgres://127.0.0.1/latchkey' }
  const productList = await ProductList.read(shop.platform)
  const deps = { ...shop.platform, products: openProducts(config.products), productList, config }
  const release = { actorId: null, tier: 'course', version: '1.0.0' }
  await assert.rejects(uploadRelease(deps, release, { files: [], leftOut: [], notes: '' }), {
    code: 'products_dir_needed',
  })
})

test('a bundle takes no release, which its buyers could not download', async (t) => {
  const { root } = await openDesk(t)
  const more = [
    { ...COURSE, tier: 'kit', name: 'Kit' },
    { ...COURSE, tier: 'both', name: 'Both', bundle: ['course', 'kit'] },
  ]
  for (const product of more) {
    const made = await root.post('/api/admin/products', product)
    assert.equal(made.status, 201, made.text)
  }
  const refused = await upload(root, '1.0.0', {}, '/api/admin/products/both/releases')
  assert.deepEqual([refused.status, refused.body.code], [409, 'bundle_without_files'])
})

test('folders of PRODUCTS_DIR stay releases beside the uploaded ones, and keep their versions', async (t) => {
  const products = temporaryFolder(t)
  mkdirSync(join(products, 'course/0.9.0'), { recursive: true })
  writeFileSync(join(products, 'course/0.9.0/old.txt'), 'old')
  const { shop, root } = await openDesk(t, { PRODUCTS_DIR: products })
  const taken = await upload(root, '0.9.0')
  assert.deepEqual([taken.status, taken.body.code], [409, 'release_exists'])
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'course')
  assert.deepEqual(await readDownload(ada), { 'old.txt': 'old' })
  await publish(root, '1.0.0')
  const { releases } = (await root.get(RELEASES)).body
  assert.deepEqual(
    releases.map((one: { version: string; is_uploaded: boolean }) => [
      one.version,
      one.is_uploaded,
    ]),
    [
      ['1.0.0', true],
      ['0.9.0', false],
    ],
  )
  assert.equal((await ada.get('/api/purchases')).body[0].version, '1.0.0')
})

test('an uploaded release of a built-in product replaces its sample', async (t) => {
  const { shop, root } = await openDesk(t)
  const path = '/api/admin/products/basic/releases'
  assert.equal((await upload(root, '1.0.0', {}, path)).status, 201)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const version = async () => (await ada.get('/api/purchases')).body[0].version
  assert.equal(await version(), '1.1.0', 'of the sample')
  await root.post(`${path}/1.0.0/publish`)
  assert.equal(await version(), '1.0.0')
  assert.equal((await root.get(path)).body.releases.length, 1)
})

test('releases are stored in a bucket, and removed from it', async (t) => {
  const objects: Record<string, string> = {}
  const { shop, root } = await openDesk(t, {
    PRODUCTS_DIR: 's3://products-bucket/shop',
    S3_ENDPOINT: await startBucket(t, objects),
    AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
  })
  await publish(root, '1.0.0')
  await upload(root, '1.1.0')
  const stored = () =>
    Object.keys(objects).filter((key) => key.startsWith('shop/course/_uploaded/'))
  assert.equal(stored().length, 4, Object.keys(objects).join())
  await root.delete(`${RELEASES}/1.1.0`)
  assert.equal(stored().length, 2)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'course')
  assert.deepEqual(await readDownload(ada), { 'a.txt': 'hello', 'b/run': 'world!\n' })
})

test('a refused upload leaves no draft and no file', async (t) => {
  const products = temporaryFolder(t)
  const { root } = await openDesk(t, { PRODUCTS_DIR: products })
  const send = (form: FormData) => root.post(RELEASES, form)
  const zip = (bytes: Buffer, version = '1.0.0') => buildForm({ version }, bytes)
  const slip = await send(zip(writeZip([{ name: '../evil.sh', content: 'x' }])))
  assert.deepEqual([slip.status, slip.body.code], [422, 'release_refused'])
  assert.match(slip.body.detail, /'\.\.\/evil\.sh' leads out of its folder/)
  const bomb = writeZip([
    { name: 'a', content: 'a' },
    { name: 'b', content: Buffer.alloc(1e6), sizeBytes: 1 },
  ])
  assert.equal((await send(zip(bomb))).body.code, 'release_refused')
  assert.equal((await send(zip(ZIP, '../1'))).status, 422)
  assert.equal((await send(zip(ZIP, '_uploaded'))).status, 422)
  const noFile = new FormData()
  noFile.append('version', '1.0.0')
  assert.deepEqual((await send(noFile)).body.detail[0].loc, ['body', 'file'])
  const noVersion = new FormData()
  noVersion.append('file', new Blob([new Uint8Array(ZIP)]), 'kit.zip')
  assert.deepEqual((await send(noVersion)).body.detail[0].loc, ['body', 'version'])
  assert.equal((await root.post(RELEASES, { version: '1.0.0' })).status, 415)
  assert.equal((await upload(root, '1.0.0', {}, '/api/admin/products/none/releases')).status, 404)

  assert.deepEqual((await root.get(RELEASES)).body.releases, [])
  assert.deepEqual(listFiles(products), [])
  assert.equal((await upload(root, '1.0.0')).status, 201)
  assert.equal((await upload(root, '1.0.0')).body.code, 'release_exists')
})

test('a store that cannot be written refuses with a reason for the operator', async (t) => {
  const products = join(temporaryFolder(t), 'a file')
  writeFileSync(products, '')
  const { root } = await openDesk(t, { PRODUCTS_DIR: products })
  const refused = await upload(root, '1.0.0')
  assert.deepEqual([refused.status, refused.body.code], [503, 'release_not_stored'])
  assert.deepEqual((await root.get(RELEASES)).body.releases, [])
})

test('of two simultaneous uploads of a version one is stored', async (t) => {
  const { root } = await openDesk(t)
  const replies = await Promise.all([1, 2, 3].map(() => upload(root, '1.0.0')))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409])
  const { releases } = (await root.get(RELEASES)).body
  assert.deepEqual([releases.length, releases[0].is_complete], [1, true])
})

test('every step is in the audit log, and only superusers take one', async (t) => {
  const { shop, root } = await openDesk(t)
  await publish(root, '1.0.0')
  await root.post(`${RELEASES}/1.0.0/withdraw`)
  await upload(root, '1.1.0')
  await root.delete(`${RELEASES}/1.1.0`)
  for (const [action, count] of [
    ['release.uploaded', 2],
    ['release.published', 1],
    ['release.withdrawn', 1],
    ['release.deleted', 1],
  ] as const) {
    const { entries } = (await root.get(`/api/admin/audit?action=${action}`)).body
    assert.deepEqual([entries.length, entries[0].subject], [count, 'product:course'], action)
  }
  const eve = await shop.as('eve')
  for (const refused of [
    await eve.get(RELEASES),
    await upload(eve, '2.0.0'),
    await eve.patch(`${RELEASES}/1.0.0`, { notes: 'x' }),
    await eve.post(`${RELEASES}/1.0.0/publish`),
    await eve.post(`${RELEASES}/1.0.0/withdraw`),
    await eve.delete(`${RELEASES}/1.0.0`),
  ])
    assert.equal(refused.status, 403)
})

const ZIP = writeZip([
  { name: 'a.txt', content: 'hello' },
  { name: 'b/run', content: 'world!\n', mode: 0o100755 },
  { name: '.DS_Store', content: 'x' },
])

type Client = Awaited<ReturnType<Shop['as']>>

function buildForm(fields: Record<string, string>, bytes: Buffer): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([new Uint8Array(bytes)]), 'kit.zip')
  return form
}

const upload = (client: Client, version: string, fields = {}, path = RELEASES) =>
  client.post(path, buildForm({ version, ...fields }, ZIP))

async function publish(root: Client, version: string) {
  assert.equal((await upload(root, version)).status, 201)
  const { status, body, text } = await root.post(`${RELEASES}/${version}/publish`)
  assert.equal(status, 200, text)
  return body
}

/** The files of a buyer's ZIP by their names below its folder. */
async function readDownload(buyer: Awaited<ReturnType<Shop['buyer']>>) {
  const { bytes, headers } = await buyer.download()
  const password = headers.get('x-license-key') ?? ''
  const reader = new ZipReader(new Uint8ArrayReader(new Uint8Array(bytes)), { password })
  const files: Record<string, string> = {}
  for (const entry of await reader.getEntries()) {
    if (entry.directory) continue
    const content = await entry.getData(new Uint8ArrayWriter())
    files[entry.filename.split('/').slice(1).join('/')] = Buffer.from(content).toString()
  }
  return files
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-releases-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

/** A superuser of a shop that sells `course`. */
async function openDesk(t: TestContext, env: Record<string, string> = {}) {
  const shop = await openShop(t, env)
  const root = await shop.as('root', { superuser: true })
  const made = await root.post('/api/admin/products', COURSE)
  assert.equal(made.status, 201, made.text)
  return { shop, root }
}
