import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBackups } from '#checks/backups.ts'
import { saveBackup } from '#platform/backups.ts'
import { DAY_MS, HOUR_MS, plus } from '#platform/clock.ts'
import { version } from '#platform/version.ts'
import { testApp } from '#testing/app.ts'

type Component = { area: string; name: string; state: string; detail: string }

test('health names what works, what is played and what is off, for superusers only', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const eve = await app.as('eve')
  assert.equal((await eve.get('/api/admin/health')).status, 403)

  const { body } = await root.get('/api/admin/health')
  const states = new Map(
    body.components.map(({ name, state }: Component) => [name, state] as const),
  )
  assert.equal(states.get('Database'), 'ok')
  assert.equal(states.get('Jobs'), 'ok')
  assert.equal(states.get('Billing'), 'sandbox')
  assert.equal(states.get('Mail'), 'sandbox')
  assert.equal(body.version, version)
  assert.equal(body.last_event_at, null)
  assert.ok(body.free_bytes > 0)
  assert.deepEqual(body.outages, [])
})

test('health knows the newest backup, and fails when it is older than eight days', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const check = async () => {
    const { mark, says } = await checkBackups(async () => app.platform)
    return [mark, says]
  }
  const root = await app.as('root', { superuser: true })
  const { components } = (await root.get('/api/admin/health')).body
  const shown = components.find(({ name }: Component) => name === 'Backup')
  assert.deepEqual([shown.area, shown.state], ['storage', 'off'])

  await saveBackup(db, { place: '/mnt/old', made_at: plus(clock.now(), -DAY_MS) })
  await saveBackup(db, { place: '/mnt/backups', made_at: plus(clock.now(), -20 * DAY_MS) })
  await saveBackup(db, { place: '/mnt/backups', made_at: plus(clock.now(), -HOUR_MS) })
  assert.deepEqual(await check(), ['ok', 'the newest is 1 h old, in /mnt/backups'])
  app.clock.advance(9 * DAY_MS)
  assert.deepEqual(await check(), ['wrong', 'the newest is 9 days old, in /mnt/backups'])
})

test('health lists the times in which a part did not run', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const root = await app.as('root', { superuser: true })
  const [from, until] = [plus(clock.now(), -2 * HOUR_MS), plus(clock.now(), -HOUR_MS)]
  const row = { part: 'worker', began_at: from, ended_at: until }
  await db.insertInto('service_outages').values(row).execute()
  const { outages } = (await root.get('/api/admin/health')).body
  assert.deepEqual(outages, [{ parts: ['worker'], from, until }])
})

test('health lists faults first, and reuses a result for a moment', async (t) => {
  const app = await testApp(t, { env: { SMTP_URL: 'smtp://127.0.0.1:1', DEBUG: 'true' } })
  const root = await app.as('root', { superuser: true })
  const first = (await root.get('/api/admin/health')).body
  const components = first.components as Component[]
  const firstWell = components.findIndex(({ state }) => state !== 'wrong')
  const faults = components.slice(0, firstWell)
  assert.ok(components.slice(firstWell).every(({ state }) => state !== 'wrong'))
  const fault = faults.find(({ name }) => name === 'Mail')
  assert.equal(fault?.area, 'mail')
  assert.match(fault?.detail ?? '', /^127\.0\.0\.1:1 rejects the connection/)
  app.clock.advance(1_000)
  const second = (await root.get('/api/admin/health')).body
  assert.equal(second.checked_at, first.checked_at)
  app.clock.advance(10_000)
  assert.notEqual((await root.get('/api/admin/health')).body.checked_at, first.checked_at)
})
