import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, PRICES } from '#testing/shop.ts'

type Plan = {
  tier: string
  accounts: number
  prices: { interval: string; price_id: string; amount: number; subscribers: number }[]
}

test('the catalogue has the plans with amounts, and counts accounts and subscribers', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await app.as('ben', { tier: 'pro' })
  assert.equal((await ada.get('/api/admin/catalogue')).status, 403)
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  await createShop(app).pay(body.url)

  const catalogue = (await root.get('/api/admin/catalogue')).body
  const [free, pro] = catalogue.plans as [Plan, Plan]
  assert.deepEqual([free.tier, free.accounts, free.prices], ['free', 1, []])
  assert.deepEqual([pro.tier, pro.accounts], ['pro', 2])
  const monthly = pro.prices.find(({ price_id }) => price_id === PRICES.pro)
  assert.deepEqual([monthly?.interval, monthly?.amount, monthly?.subscribers], ['month', 29, 1])
  assert.deepEqual([catalogue.plans_file, catalogue.dropped_plans], [null, []])
})

test('the catalogue names its file, and accounts on plans that the file has dropped', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  await app.as('ada', { tier: 'enterprise' })
  const { db } = app.platform
  await db
    .updateTable('users')
    .set({ subscription_tier: 'gold' })
    .where('email', '=', 'ada@example.com')
    .execute()

  const { dropped_plans, plans } = (await root.get('/api/admin/catalogue')).body
  assert.deepEqual(dropped_plans, [{ tier: 'gold', accounts: 1 }])
  assert.equal(plans[0].accounts, 1)

  const file = join(app.dataDir, 'catalogue.json')
  writeFileSync(
    file,
    JSON.stringify({
      plans: [{ tier: 'solo', name: 'Solo', prices: { month: 'price_solo' }, grants: ['ai'] }],
    }),
  )
  const other = await testApp(t, { env: { CATALOGUE: file } })
  const boss = await other.as('boss', { superuser: true })
  const { plans_file, plans: own } = (await boss.get('/api/admin/catalogue')).body
  assert.equal(plans_file, file)
  const [price] = own.find(({ tier }: Plan) => tier === 'solo').prices
  assert.deepEqual(
    [price.price_id, price.setting],
    ['price_solo', "CATALOGUE: prices.month of 'solo'"],
  )
})
