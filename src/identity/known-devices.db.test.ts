// The memory of sign-ins is bounded and never drops the browser that the owner uses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { recognizeDevice, rememberDevice } from './known-devices.ts'

test('a client without cookies that changes its network and name neither adds a row per sign-in nor displaces the owner’s device', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { platform } = app
  const { db } = platform
  const { clock } = app
  const own = { userAgent: 'Firefox', address: '192.0.2.7', device: 'the-owners-own-browser' }
  const signIn = (origin: typeof own) =>
    transaction(db, (tx) => rememberDevice(platform, tx, ada.userId, origin, clock.now()))

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
})
