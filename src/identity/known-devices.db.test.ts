// The memory of sign-ins is bounded and never drops the browser that the owner uses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { createTwin } from '#testing/twin.ts'
import { recognizeDevice, rememberDevice } from './known-devices.ts'

test('a client without cookies that changes its network and name neither adds a row per sign-in nor displaces the owner’s device', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { platform } = app
  const { db } = platform
  const { clock } = app
  const own = { userAgent: 'Firefox', address: '192.0.2.7', device: 'the-owners-own-browser' }
  const signIn = (origin: typeof own, { userId } = ada) =>
    transaction(db, (tx) => rememberDevice(platform, tx, userId, origin, clock.now()))
  const bob = await app.as('bob')
  const countOfBob = async () =>
    (await db.selectFrom('user_devices').select('mark').where('user_id', '=', bob.userId).execute())
      .length
  await signIn({ ...own, device: 'an early browser of bob' }, bob)

  await signIn(own)
  clock.advance(2 * HOUR_MS)
  assert.equal(await signIn(own), false)
  for (let i = 0; i < 150; i++) {
    clock.advance(HOUR_MS / 60)
    const roams = {
      userAgent: `curl-${'x'.repeat(i)}`,
      address: `198.51.${i}.1`,
      device: `nobody-keeps-${i}`,
    }
    await signIn(roams)
  }
  const before = await countOfBob()
  for (let i = 0; i < 20; i++) await signIn({ ...own, device: `a late browser of bob ${i}` }, bob)
  assert.equal(await countOfBob(), before + 20, 'the devices of ada displace none of bob')

  const rows = await db
    .selectFrom('user_devices')
    .select('kind')
    .where('user_id', '=', ada.userId)
    .execute()
  for (const kind of ['browser', 'network', 'program'] as const) {
    const count = rows.filter((row) => row.kind === kind).length
    assert.ok(count >= 30 && count <= 60, `${count} of ${kind}`)
  }
  const elsewhere = { userAgent: null, address: '203.0.113.9', device: own.device }
  assert.equal(await recognizeDevice(platform, 'ada@example.com', elsewhere), 'browser')
  assert.equal(
    await recognizeDevice(platform, 'ada@example.com', {
      ...elsewhere,
      device: 'nobody-keeps-149',
    }),
    'browser',
  )
  assert.equal(
    await recognizeDevice(platform, 'ada@example.com', { ...elsewhere, device: 'nobody-keeps-3' }),
    null,
  )

  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()
  for (let i = 200; i < 230; i++) {
    const device = `nobody-keeps-${i}`
    await signIn({ userAgent: 'curl', address: '198.51.100.1', device })
  }
  assert.deepEqual(await readTwin(), untouched, 'nor of a user with the same ids')
})
