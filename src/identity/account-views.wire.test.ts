// A superuser's view of an account: what it reads, what it is refused, and when it ends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { MINUTE_MS } from '#platform/clock.ts'
import { createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'

const REASON = { reason: 'An invoice that they cannot find' }

async function startView(app: TestApp, viewer = 'root', name = 'ada') {
  const { userId, email } = await app.as(name, { tier: 'enterprise' })
  const root = await app.as(viewer, { superuser: true })
  const { status, text, body } = await root.post(`/api/admin/users/${userId}/view`, REASON)
  assert.equal(status, 201, text)
  const view = createClient(app.url, body.access_token, { email, userId, refreshToken: '' })
  return { root, view, userId, token: body.access_token as string }
}

/** The operations that a view may read. */
const VIEWABLE = [
  'getAllowance',
  'getCall',
  'getConversationSettings',
  'getCurrentUser',
  'getProfile',
  'getStorage',
  'getStorageInLibrary',
  'getSubscription',
  'getUsage',
  'listApiKeys',
  'listCalls',
  'listConversationModels',
  'listInvoices',
  'listModels',
  'listOauthLinks',
  'listOwnAudit',
  'listPasskeys',
  'listSessions',
]

test('a view reads only the listed routes, and writes nothing', async (t) => {
  const app = await testApp(t)
  const { view } = await startView(app)
  const { paths } = (await app.get('/openapi.json')).body
  const admitted: string[] = []
  const wrong: string[] = []
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths)) {
    for (const [method, { operationId, security }] of Object.entries(operations)) {
      // Routes that take no bearer token do not see the view.
      if (!security?.some(({ bearer }) => bearer)) continue
      const address = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
      const reply = await view.request(method.toUpperCase(), address)
      // The account has no call with this id.
      if (reply.status === 200 || reply.body?.code === 'call_not_found') admitted.push(operationId)
      // /metrics reads its own token.
      else if (!reply.text.includes('view_read_only') && path !== '/metrics')
        wrong.push(`${method} ${path}: ${reply.status} ${reply.text}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual(admitted.sort(), VIEWABLE)

  const hidden = ['/v1/responses/one', '/v1/unknown', '/api/rag/mcp/']
  for (const path of hidden) {
    for (const method of ['GET', 'POST', 'DELETE'])
      assert.ok((await view.request(method, path)).status >= 400, `${method} ${path}`)
  }
  assert.equal((await view.get('/api/auth/me')).body.email, view.email)
  assert.equal((await view.request('HEAD', '/api/auth/me')).status, 200)
})

type Operation = { operationId: string; security?: Record<string, unknown>[] }

test('a view is no session of the account, and gives none', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '20/60' } })
  const ada = await app.as('ada', { tier: 'enterprise' })
  const { view, token } = await startView(app)
  assert.equal((await app.post('/api/auth/refresh', { refresh_token: token })).status, 401)
  const before = (await ada.get('/api/users/me/sessions')).body
  assert.equal(before.length, 1)
  assert.equal((await view.get('/api/users/me/sessions')).body.length, 1)
  const { type, act, sub } = decodeJwt(token)
  assert.equal(type, 'view', 'services that verify access tokens reject it')
  assert.deepEqual([sub, typeof (act as { sub: string }).sub], [ada.userId, 'string'])

  const remaining = async (client: typeof ada) =>
    Number((await client.get('/api/auth/me')).headers.get('ratelimit-remaining'))
  const left = await remaining(ada)
  for (let reads = 0; reads < 5; reads++) await view.get('/api/auth/me')
  assert.equal(await remaining(ada), left - 1, 'a view does not use up the limit of the user')
})

test('only a superuser with a fresh sign-in views accounts, and only customers', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const root = await app.as('root', { superuser: true })
  const other = await app.as('other', { superuser: true })
  const start = (client: typeof ada, userId: string, body: object = REASON) =>
    client.post(`/api/admin/users/${userId}/view`, body)

  assert.equal((await start(ada, other.userId)).status, 403)
  assert.equal((await start(root, ada.userId, {})).status, 422, 'without a reason')
  assert.equal((await start(root, crypto.randomUUID())).status, 404)
  for (const userId of [root.userId, other.userId]) {
    const { status, body } = await start(root, userId)
    assert.deepEqual([status, body.code], [409, 'account_not_viewable'])
  }
  await root.patch(`/api/admin/users/${ada.userId}`, { is_active: false })
  assert.equal((await start(root, ada.userId)).body.code, 'account_not_viewable')
  await root.patch(`/api/admin/users/${ada.userId}`, { is_active: true })
  const { view } = await startView(app)
  assert.equal((await start(view, ada.userId)).body.code, 'view_read_only', 'no view of a view')

  app.clock.advance(11 * MINUTE_MS)
  assert.equal((await start(root, ada.userId)).body.code, 'fresh_sign_in_required')
})

test('a view ends with the button, after its time, and with the rights of the viewer', async (t) => {
  const app = await testApp(t)
  const read = async (client: ReturnType<typeof createClient>) =>
    (await client.get('/api/auth/me')).status
  const { root, view, userId } = await startView(app)
  await app.as('boss', { superuser: true })

  const next = await startView(app, 'root', 'eve')
  assert.equal(await read(view), 401, 'a session has one view')
  assert.equal((await root.delete('/api/admin/view')).status, 200)
  assert.equal(await read(next.view), 401)
  assert.equal((await root.delete('/api/admin/view')).status, 200, 'ending twice is harmless')

  const promoted = await startView(app)
  await root.patch(`/api/admin/users/${userId}`, { is_superuser: true })
  assert.equal(await read(promoted.view), 401, 'never a superuser as the target')
  await root.patch(`/api/admin/users/${userId}`, { is_superuser: false })
  assert.equal(await read(promoted.view), 200)

  const suspended = promoted
  await root.patch(`/api/admin/users/${userId}`, { is_active: false })
  assert.equal(await read(suspended.view), 403)
  await root.patch(`/api/admin/users/${userId}`, { is_active: true })

  const boss = await app.as('boss', { superuser: true })
  await boss.patch(`/api/admin/users/${root.userId}`, { is_superuser: false })
  assert.equal(await read(promoted.view), 401, 'the viewer is demoted')
  await boss.patch(`/api/admin/users/${root.userId}`, { is_superuser: true })
  await root.delete(`/api/users/me/sessions`)
  assert.equal(await read(promoted.view), 200)
  await boss.post(`/api/admin/users/${root.userId}/sign-out`)
  assert.equal(await read(promoted.view), 401, 'the viewer is signed out')

  const expiring = await startView(app, 'boss')
  app.clock.advance(29 * MINUTE_MS)
  assert.equal(await read(expiring.view), 200)
  app.clock.advance(MINUTE_MS)
  assert.equal(await read(expiring.view), 401)
})

test('the log of the account shows start and end, also of a view that expired', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { root } = await startView(app)
  await root.delete('/api/admin/view')
  await startView(app)
  await startView(app)
  const sign = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  app.clock.advance(30 * MINUTE_MS)
  await app.settle()
  const again = await app.post('/api/auth/refresh', { refresh_token: sign.body.refresh_token })
  const { entries } = (
    await app.get('/api/users/me/audit', {
      headers: { authorization: `Bearer ${again.body.access_token}` },
    })
  ).body
  const views = entries.filter(({ action }: { action: string }) => action.startsWith('view.'))
  assert.deepEqual(
    views.map(({ action, data }: { action: string; data: Record<string, string> }) => [
      action,
      data.ended ?? data.reason,
    ]),
    [
      ['view.ended', 'expired'],
      ['view.started', REASON.reason],
      ['view.ended', 'replaced'],
      ['view.started', REASON.reason],
      ['view.ended', 'by the viewer'],
      ['view.started', REASON.reason],
    ],
  )
  for (const { actor_id, subject } of views)
    assert.deepEqual([actor_id, subject], [root.userId, `user:${ada.userId}`])
})

test('the end of a view is recorded when its viewer signs out', async (t) => {
  const app = await testApp(t)
  const { root, userId } = await startView(app)
  const boss = await app.as('boss', { superuser: true })
  assert.equal((await boss.post(`/api/admin/users/${root.userId}/sign-out`)).status, 200)
  const { entries } = (await boss.get(`/api/admin/audit?user_id=${userId}&action=view.ended`)).body
  assert.deepEqual(
    entries.map(({ data, actor_id }: { data: object; actor_id: string }) => [data, actor_id]),
    [[{ ended: 'signed out' }, root.userId]],
  )
  app.clock.advance(31 * MINUTE_MS)
  await app.settle()
  const ends = app.platform.db
    .selectFrom('audit_log')
    .select('id')
    .where('action', '=', 'view.ended')
  assert.equal((await ends.execute()).length, 1, 'recorded once')
})
