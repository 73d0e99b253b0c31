import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { Jobs } from '#platform/jobs/jobs.ts'
import { removeAged } from '#platform/retention.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { findScans } from '#testing/plans.ts'
import { agedIdentity } from '../retention.ts'
import { updateUser } from '../users.ts'
import { changeUser, listSuperusers, listUsers, userStats } from './administration.ts'
import { hasSuperuser } from './superuser.ts'
import { handleOverrideEnds } from './tier-override.ts'
import { findUsers } from './user-search.ts'

test('an operator’s queries never scan a whole table', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const eve = await app.as('eve')
  const { platform } = app
  const { clock } = platform

  const scans = await findScans(app, async (db) => {
    await hasSuperuser(db)
    await changeUser({ ...platform, db, sessionsElsewhere: [] }, ada.userId, eve.userId, {
      is_verified: true,
    })
    await userStats(db, clock.now())
    await listUsers(db, { page: 2, limit: 20 })
    await findUsers(db, 'a', { page: 1, limit: 20 })
    await findUsers(db, ada.userId, { page: 1, limit: 20 })
    await findUsers(db, '4242', { page: 1, limit: 20 }, { ids: [ada.userId] })
    await findUsers(db, '', { page: 1, limit: 20 }, { plan: 'pro', status: 'active' })
  })

  // Some rows a day.
  assert.deepEqual(
    scans.filter((scan) => !/from "user_counts"/.test(scan)),
    [],
  )
})

test('the numbers are those of the people', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const gone = await app.as('gone', { tier: 'pro' })
  app.clock.advance(8 * 86_400_000)
  await Promise.all([app.as('bob'), app.as('eve')])
  const { db, clock } = app.platform
  for (const is_verified of [true, true, false, true]) {
    await transaction(db, (tx) => updateUser(tx, ada.userId, { is_verified }, clock.now()))
  }
  const again = await app.post('/api/auth/login', { email: gone.email, password: PASSWORD })
  const leave = {
    body: { password: PASSWORD },
    headers: { authorization: `Bearer ${again.body.access_token}` },
  }
  assert.equal((await app.request('DELETE', '/api/users/me', leave)).status, 200)
  const { total_users, active_subscriptions, new_users_7d, verified_users } = await userStats(
    db,
    clock.now(),
  )
  assert.deepEqual([total_users, active_subscriptions, new_users_7d, verified_users], [3, 1, 2, 1])

  const pages = await Promise.all([1, 2, 3].map((page) => listUsers(db, { page, limit: 1 })))
  assert.equal(pages[2]?.users[0]?.id, ada.userId, 'the oldest comes last')
  assert.equal(new Set(pages.map(({ users }) => users[0]?.id)).size, 3)

  const all = pages.flatMap(({ users }) => users.map(({ id }) => id))
  const walked: string[] = []
  for (let cursor: string | undefined; ; ) {
    const { users, next_cursor } = await listUsers(db, { page: 1, limit: 1, cursor })
    walked.push(...users.map(({ id }) => id))
    if (next_cursor === null) break
    cursor = next_cursor
  }
  assert.deepEqual(walked, all, 'by cursor as by number')
  const two = await Promise.all([1, 2, 3].map((page) => listUsers(db, { page, limit: 2 })))
  assert.deepEqual(
    two.map(({ users }) => users.map(({ id }) => id)),
    [all.slice(0, 2), all.slice(2), []],
  )
  await assert.rejects(listUsers(db, { page: 1, limit: 1, cursor: 'bm8gY3Vyc29y' }), {
    status: 422,
  })
})

test('pages of every size are parts of one list, on any distribution of days', async (t) => {
  const app = await testApp(t)
  let person = 0
  for (const cameThatDay of [3, 1, 0, 4, 2]) {
    for (let n = 0; n < cameThatDay; n++) await app.as(`person-${person++}`)
    app.clock.advance(86_400_000)
  }
  const { db } = app.platform
  const { users, total } = await listUsers(db, { page: 1, limit: 100 })
  assert.equal(total, person)
  const list = users.map(({ id }) => id)

  for (let limit = 1; limit <= total; limit++) {
    const paged: string[][] = []
    for (let page = 1; page <= Math.ceil(total / limit) + 1; page++) {
      paged.push((await listUsers(db, { page, limit })).users.map(({ id }) => id))
    }
    assert.deepEqual(paged.flat(), list, `pages of ${limit}`)
    assert.ok(
      paged.slice(0, -2).every((page) => page.length === limit),
      `pages of ${limit}`,
    )
  }
})

test('more old sessions than a slice holds are all removed, and no others', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { db, clock } = app.platform
  const day = 86_400_000
  const session = (id: string, expiresMs: number, revokedMs: number | null) => ({
    user_id: ada.userId,
    id,
    user_agent: null,
    ip_address: null,
    created_at: plus(clock.now(), -60 * day),
    authenticated_at: plus(clock.now(), -60 * day),
    last_used_at: plus(clock.now(), -60 * day),
    expires_at: plus(clock.now(), expiresMs),
    revoked_at: revokedMs === null ? null : plus(clock.now(), revokedMs),
  })
  const old = Array.from({ length: 1_100 }, (_, index) =>
    index % 2 === 0
      ? session(`expired-${index}`, -8 * day, null)
      : session(`revoked-${index}`, day, -8 * day),
  )
  for (let from = 0; from < old.length; from += 100) {
    await db
      .insertInto('sessions')
      .values(old.slice(from, from + 100))
      .execute()
  }
  await db
    .insertInto('sessions')
    .values([session('just expired', -6 * day, null), session('just revoked', day, -6 * day)])
    .execute()

  await removeAged({ db, clock }, agedIdentity())

  const left = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', ada.userId)
    .orderBy('id')
    .execute()
  assert.deepEqual(
    left.map(({ id }) => id).filter((id) => id.includes(' ')),
    ['just expired', 'just revoked'],
  )
  assert.equal(left.length, 3, 'and the one that is signed in')
})

test('a tier override ends on a node whose clock lags the database’s', async (t) => {
  const app = await testApp(t)
  const [root, ada] = [await app.as('root', { superuser: true }), await app.as('ada')]
  const { db, clock, log } = app.platform
  const late = { now: () => plus(clock.now(), -1_000), ms: () => clock.ms() - 1_000 }
  const jobs = new Jobs({ db, clock, log })
  handleOverrideEnds({ db, clock: late, jobs })
  const { status } = await root.patch(`/api/admin/users/${ada.userId}`, {
    subscription_tier: 'pro',
    subscription_tier_until: plus(clock.now(), DAY_MS),
  })
  assert.equal(status, 200)
  app.clock.advance(DAY_MS)
  await jobs.drain()
  const user = await db
    .selectFrom('users')
    .select(['subscription_tier', 'tier_override_until'])
    .where('id', '=', ada.userId)
    .executeTakeFirstOrThrow()
  assert.deepEqual(user, { subscription_tier: 'free', tier_override_until: null })
})

test('a suspended superuser is not listed, and does not replace the last one', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const suspended = await app.as('suspended', { superuser: true })
  const change = (id: string, changes: object) => root.patch(`/api/admin/users/${id}`, changes)
  assert.equal((await change(suspended.userId, { is_active: false })).status, 200)

  const superusers = await listSuperusers(app.platform.db)
  assert.deepEqual(
    superusers.map(({ id }) => id),
    [root.userId],
  )
  const demoted = await change(root.userId, { is_superuser: false })
  assert.equal(demoted.body.code, 'last_superuser', demoted.text)
})
