import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'

test('a superuser lists disputes with the purchase whose deliveries are the evidence', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const list = async (query = '') => (await root.get(`/api/admin/disputes${query}`)).body
  assert.deepEqual((await list()).disputes, [])

  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.buy(ada, 'pro')
  shop.clock.advance(60_000)
  await shop.buy(eve, 'basic')
  const downloaded = await ada.download('/api/download', { 'user-agent': 'curl/8' })
  const license_key = downloaded.headers.get('x-license-key') ?? ''
  const machine = { license_key, fingerprint: 'f'.repeat(32), name: 'Ada’s laptop' }
  assert.equal((await shop.store('POST', '/api/license/activate', { body: machine })).status, 201)
  const { processor, press } = createShop(shop.app)
  const dispute = async (amount: number, action: string) => {
    const { data } = await processor.charges.list({ limit: 10 })
    const charge = data.find((one) => one.amount === amount)
    const pressed = await press(`/sandbox/processor/charges/${charge?.id}/${action}`)
    assert.equal(pressed.status, 303)
    await shop.settle()
  }
  await dispute(29_900, 'dispute')
  shop.clock.advance(60_000)
  await dispute(19_900, 'dispute')

  const [second, first] = (await list()).disputes
  assert.deepEqual(
    [first.email, first.tier, first.kind, first.amount_cents, first.is_open],
    [ada.email, 'pro', 'purchase', 29_900, true],
  )
  assert.deepEqual([second.email, second.is_open], [eve.email, true])
  const order = (await root.get(`/api/admin/purchases/${first.order_id}`)).body
  assert.equal(order.status, 'disputed')
  assert.deepEqual(
    [order.downloads[0].ip_address, order.downloads[0].user_agent],
    ['127.0.0.1', 'curl/8'],
  )
  assert.deepEqual(
    order.machines.map(({ name }: { name: string }) => name),
    ['Ada’s laptop'],
  )
  assert.equal(order.disputes[0].id, first.id)

  const page = await list('?limit=1')
  assert.deepEqual([page.total, page.pages], [2, 2])
  assert.equal((await list(`?limit=1&cursor=${page.next_cursor}`)).disputes[0].id, first.id)

  await dispute(29_900, 'win')
  assert.deepEqual(
    [(await list('?open=true')).disputes[0].id, (await list('?open=false')).disputes[0].id],
    [second.id, first.id],
  )
  assert.equal((await list('?open=false')).disputes[0].is_open, false)
  assert.equal((await (await shop.as('ada')).get('/api/admin/disputes')).status, 403)
})

test('an order shows who changed it and why', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  await shop.sell(await shop.buyer('ada'), 'pro')
  const [{ id }] = (await root.get('/api/admin/purchases')).body.purchases
  await root.post(`/api/admin/purchases/${id}/activations`, { limit: 9 })
  shop.clock.advance(1_000)
  const { body } = await root.post(`/api/admin/purchases/${id}/revoke`, { reason: 'Published' })
  const [revoked, limited] = body.changes
  assert.deepEqual(
    [revoked.action, revoked.actor_email, revoked.data.reason],
    ['purchase.revoked', root.email, 'Published'],
  )
  assert.deepEqual(
    [limited.action, limited.data],
    ['purchase.activations_set', { from: null, to: 9 }],
  )
})
