import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatProduct } from '#catalogue/product-form.ts'
import { createBus } from '#platform/bus.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { ProductList } from './product-list.ts'

test('the built-in products are sold until a row exists, and an empty list stays empty', async (t) => {
  const { platform, list, write } = await openList(t)
  assert.deepEqual(readTiers(list), ['basic', 'pro', 'enterprise'])
  assert.equal(list.isFixed, false)

  await write([{ tier: 'course' }])
  await list.reload()
  assert.deepEqual(readTiers(list), ['course'])
  assert.equal(list.findSold('basic'), undefined)
  assert.deepEqual(readTiers(await ProductList.read(platform)), ['course'])

  await write([])
  await list.reload()
  assert.deepEqual(readTiers(list), [])
})

test('a retired product is not sold, and keeps its name, terms and slug for its buyers', async (t) => {
  const { list, write } = await openList(t)
  await write([{ tier: 'old', retired: true, slug: 'kit' }, { tier: 'course' }])
  await list.reload()
  assert.deepEqual(readTiers(list), ['course'])
  assert.equal(list.findSold('old'), undefined)
  assert.equal(list.find('old')?.activationsMax, 3)
  assert.equal(list.findBySlug('kit')?.tier, 'old')
  assert.deepEqual([list.getName('old'), list.getName('other')], ['Name of old', 'other'])
})

test('a node that no message reaches sees a change by its revision', async (t) => {
  const { list, write } = await openList(t)
  await write([{ tier: 'course' }])
  while (readTiers(list)[0] !== 'course') await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(readTiers(list), ['course'])
})

type Row = { tier: string; slug?: string; retired?: boolean }

/** Opens the list as another node does. `write` replaces its rows. */
async function openList(t: TestContext) {
  const { platform } = await testApp(t)
  const { db, clock, config, log } = platform
  const list = await ProductList.open({ db, config, log, bus: createBus(null) })
  t.after(() => list.close())
  const [basic] = config.catalogue.products
  assert.ok(basic)
  let revision = 0
  const write = (rows: Row[]) =>
    transaction(db, async (tx) => {
      const at = clock.now()
      revision++
      await tx.deleteFrom('store_products').execute()
      await tx.deleteFrom('store_product_list').execute()
      await tx
        .insertInto('store_product_list')
        .values({ number: 1, revision, is_edited: true })
        .execute()
      for (const [position, { tier, slug = tier, retired = false }] of rows.entries()) {
        const product = formatProduct({ ...basic, tier, slug, name: `Name of ${tier}` })
        await tx
          .insertInto('store_products')
          .values({
            tier,
            position,
            product_json: product,
            revision,
            created_at: at,
            updated_at: at,
            retired_at: retired ? at : null,
          })
          .execute()
      }
    })
  return { platform, list, write }
}

const readTiers = ({ sold }: ProductList) => sold.map(({ tier }) => tier)
