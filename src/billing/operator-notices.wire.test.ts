import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, GOOD_CARD, loseEvents, PRICES } from '#testing/shop.ts'

const DISPUTED_CARD = '4000000000000259'

test('emails the operator once about each dispute, double subscription, unknown price and dead job', async (t) => {
  const app = await testApp(t)
  loseEvents(app)
  const shop = createShop(app)
  const inSandbox = (statement: string) => {
    const db = new DatabaseSync(join(app.dataDir, 'sandbox.db'))
    db.exec(statement)
    db.close()
  }
  const checkOut = async (name: string, card = GOOD_CARD) => {
    const { body } = await app
      .as(name)
      .post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
    assert.equal((await shop.pay(body.url, card)).status, 303)
    return (await shop.processor.subscriptions.list({ limit: 1 })).data[0]?.id ?? ''
  }
  await checkOut('ada', DISPUTED_CARD)
  const foreign = await checkOut('bob')
  inSandbox(
    `update stripe_objects set body = json_set(body, '$.items.data[0].price.id', 'price_foreign') where id = '${foreign}'`,
  )
  const first = await checkOut('eve')
  inSandbox(
    `insert into stripe_objects (id, object, owner, body, side)
     select 'sub_by_hand', object, owner, json_set(body, '$.id', 'sub_by_hand', '$.metadata', json('{}'),
       '$.created', json_extract(body, '$.created') + 5), side from stripe_objects where id = '${first}'`,
  )
  app.platform.jobs.handle('test.hopeless', async () => Promise.reject(new Error('out of paper')), {
    delaysMs: [],
  })
  for (const key of ['first', 'second'])
    await app.platform.jobs.enqueue(app.platform.db, 'test.hopeless', {}, { key })

  await app.service.billing.sync()
  await app.service.billing.sync()
  const mails = await app.mail(app.config.mail.supportEmail)
  const emails = Object.fromEntries(
    mails.map(({ subject, text }) => [subject.replace(/^\[.*?\] /, ''), text]),
  )
  assert.equal(mails.length, 4, Object.keys(emails).join())
  assert.match(
    emails['A payment is disputed: $29.00'] ?? '',
    /Customer: ada@example\.com\n.*\nAnswer by: 20/s,
  )
  assert.match(
    emails['A subscription has a price that belongs to no plan'] ?? '',
    /price_foreign.*bob@example\.com/s,
  )
  assert.match(
    emails['A customer pays for several subscriptions'] ?? '',
    /eve@example\.com\nSubscriptions: .*sub_by_hand/,
  )
  assert.match(emails['Job failed: test.hopeless'] ?? '', /out of paper/)
  const live = (await shop.processor.subscriptions.list({ limit: 100, status: 'active' })).data.map(
    ({ id }) => id,
  )
  assert.ok(live.includes(first) && live.includes('sub_by_hand'), 'neither was cancelled')
})
