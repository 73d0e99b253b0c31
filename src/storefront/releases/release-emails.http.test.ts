import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openShop, type Shop } from '#testing/buyer.ts'
import { RELEASE_EMAILS_JOB } from './release-emails.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

test('buyers get an email about a release once, with its notes', async (t) => {
  const { shop, publish } = await openReleases(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'pro')
  await shop.sell(eve, 'basic')
  await run(shop)
  assert.deepEqual(await readNews(shop, ada.email), [], 'bought after the first release')

  shop.clock.advance(HOUR_MS)
  publish('pro', '1.1.0', '**Faster** search.')
  const [email] = await waitForNews(shop, ada.email, 1)
  assert.match(email?.subject ?? '', /^New release: .* Pro 1\.1\.0$/)
  assert.match(email?.text ?? '', /Faster.* search\./)
  assert.match(email?.text ?? '', /\/dashboard/)
  assert.equal(email?.text.includes('LK-'), false)
  assert.deepEqual(await readNews(shop, eve.email), [], 'another product')
})

test('a buyer gets at most one email a week, which has all releases since the last', async (t) => {
  const { shop, publish } = await openReleases(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  await shop.sell(ada, 'basic')
  const versions = ['1.1.0', '1.2.0', '1.3.0']
  for (const version of versions) {
    shop.clock.advance(DAY_MS)
    publish('pro', version, '')
    await waitForNews(shop, ada.email, 1)
  }
  shop.clock.advance(HOUR_MS)
  publish('basic', '3.0.0', 'A new start.')
  await waitForNews(shop, ada.email, 1)

  shop.clock.advance(5 * DAY_MS)
  const emails = await waitForNews(shop, ada.email, 2)
  const second = emails.find(({ subject }) => /^3 new/.test(subject))
  for (const part of ['Pro 1.2.0', 'Pro 1.3.0', 'Basic 3.0.0', 'A new start.'])
    assert.ok(second?.text.includes(part), part)
})

test('no email without updates, without the purchase, to a closed account, or long afterwards', async (t) => {
  const { shop, publish } = await openReleases(t)
  const buyers = await Promise.all(['ada', 'bob', 'cyd', 'eve'].map((name) => shop.buyer(name)))
  const [ada, bob, cyd, eve] = buyers as [Buyer, Buyer, Buyer, Buyer]
  for (const buyer of [ada, bob, cyd]) await shop.sell(buyer, 'pro')
  const { db } = shop.platform
  await db
    .updateTable('purchases')
    .set({ entitled_until: shop.clock.now() })
    .where('owner', '=', ada.userId)
    .execute()
  await db
    .updateTable('purchases')
    .set({ status: 'refunded' })
    .where('owner', '=', bob.userId)
    .execute()
  await db.updateTable('users').set({ is_active: false }).where('id', '=', cyd.userId).execute()
  shop.clock.advance(HOUR_MS)
  publish('pro', '1.1.0', '')
  await run(shop)

  await shop.sell(eve, 'basic')
  shop.clock.advance(HOUR_MS)
  publish('basic', '1.1.0', '')
  shop.clock.advance(20 * DAY_MS)
  await run(shop)
  for (const { email } of buyers) assert.deepEqual(await readNews(shop, email), [], email)
})

test('buyers of a product that is no longer sold get the email', async (t) => {
  const { shop, publish } = await openReleases(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const root = await shop.as('root', { superuser: true })
  assert.equal((await root.delete('/api/admin/products/pro')).status, 200)
  shop.clock.advance(HOUR_MS)
  publish('pro', '1.1.0', '')
  await waitForNews(shop, ada.email, 1)
})

test('a release that becomes public later is announced then', async (t) => {
  const { shop, publish } = await openReleases(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  publish('pro', '1.1.0', '', 2 * DAY_MS)
  await run(shop)
  assert.deepEqual(await readNews(shop, ada.email), [])
  shop.clock.advance(2 * DAY_MS + HOUR_MS)
  await waitForNews(shop, ada.email, 1)
})

test('the link of the email ends the emails without sign-in, and brings them back', async (t) => {
  const { shop, publish } = await openReleases(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  shop.clock.advance(HOUR_MS)
  publish('pro', '1.1.0', '')
  const [email] = await waitForNews(shop, ada.email, 1)
  const link = new URL(
    /https?:\/\/\S+\/release-emails\?token=\S+/.exec(email?.text ?? '')?.[0] ?? '',
  )
  const path = link.pathname + link.search

  const page = await shop.store('GET', path)
  assert.equal(page.status, 200)
  assert.match(page.text, /Stop emails about releases/)
  const announce = async (version: string, count: number) => {
    shop.clock.advance(8 * DAY_MS)
    publish('pro', version, '')
    await waitForNews(shop, ada.email, count)
  }
  // Opening the link has changed nothing.
  await announce('1.2.0', 2)

  // As a mail client sends it (RFC 8058).
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const click = await shop.store('POST', path, { body: 'List-Unsubscribe=One-Click', headers })
  assert.equal(click.status, 200)
  assert.match(click.text, /Get them again/)
  await announce('1.3.0', 2)

  assert.equal((await shop.store('POST', path, { body: 'wanted=yes', headers })).status, 200)
  await announce('1.4.0', 3)
})

test('a changed link is refused', async (t) => {
  const { shop } = await openReleases(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  const mark = shop.platform.secrets.hash('release-emails', ada.userId)
  for (const token of ['', 'x', `${eve.userId}.${mark}`, `${ada.userId}.`, ada.userId]) {
    for (const method of ['GET', 'POST']) {
      const reply = await shop.store(method, `/release-emails?token=${token}`)
      assert.deepEqual([reply.status, reply.body.code], [400, 'optout_link_invalid'], token)
    }
  }
})

type Buyer = Awaited<ReturnType<Shop['buyer']>>

/** A shop whose two products have a first release of yesterday. */
async function openReleases(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'releases-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const listed: Record<string, { version: string; published_at: string; notes: string }[]> = {}
  const write = (tier: string, version: string, notes: string, publishedMs: number) => {
    mkdirSync(join(root, tier, version), { recursive: true })
    writeFileSync(join(root, tier, version, 'README.md'), `${tier} ${version}`)
    const release = { version, published_at: new Date(publishedMs).toISOString(), notes }
    listed[tier] = [...(listed[tier] ?? []), release]
    writeFileSync(join(root, tier, 'releases.json'), JSON.stringify(listed[tier]))
  }
  for (const tier of ['basic', 'pro']) write(tier, '1.0.0', '', Date.now() - DAY_MS)
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  return {
    shop,
    /** Publishes at the present time of the shop, or later. */
    publish(tier: string, version: string, notes: string, inMs = 0) {
      write(tier, version, notes, shop.clock.ms() + inMs)
      // Listings are cached for 15 seconds.
      shop.clock.advance(60_000)
    },
  }
}

async function readNews(shop: Shop, email: string) {
  return (await shop.mail(email)).filter(({ subject }) => /new release/i.test(subject))
}

/**
 * Runs the job until the buyer has so many emails, and once more. A slow listing of the products
 * serves its last answer first.
 */
async function waitForNews(shop: Shop, email: string, count: number) {
  for (let turn = 0; turn < 20 && (await readNews(shop, email)).length < count; turn++)
    await run(shop)
  await run(shop)
  const news = await readNews(shop, email)
  assert.equal(news.length, count, news.map(({ subject }) => subject).join(', '))
  return news
}

async function run(shop: Shop): Promise<void> {
  const { jobs, db } = shop.platform
  await jobs.enqueue(db, RELEASE_EMAILS_JOB, {}, { key: RELEASE_EMAILS_JOB })
  await shop.settle()
}
