// A user with sessions, a second factor, a passkey and devices, and a twin with the same ids. The
// user's changes leave the twin's rows alone, and no row of the twin decides for the user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createCredential, type Device, signChallenge } from '#testing/authenticator.ts'
import { throughProvider } from '#testing/provider.ts'
import { createTwin } from '#testing/twin.ts'
import { forgetDevices, recognizeDevice, rememberDevice } from './known-devices.ts'
import { acceptCode, dropRecentTotp } from './second-factors/totp.ts'
import { isSessionLive, SESSION_LIFE_MS } from './sessions/sessions.ts'
import { hasOtherSignInMethod, removeSignInMethods } from './sign-in-methods.ts'

test('refreshing and ending a session leaves the session of a user with the same ids', async (t) => {
  const app = await testApp(t)
  const ada = await signIn(app, (await app.as('ada')).email)
  const first = await refresh(app, ada.refreshToken)
  const other = await signIn(app, ada.email)
  await refresh(app, other.refreshToken)
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()

  const listed = await listSessionIds(ada)
  assert.equal(new Set(listed).size, listed.length)
  assert.equal((await endSession(other, readSessionId(other.token))).status, 200)
  assert.equal((await refresh(app, other.refreshToken)).status, 401, 'as a second tab')
  app.clock.advance(11 * SECOND_MS)
  const second = await refresh(app, first.body.refresh_token)
  assert.equal((await refresh(app, first.body.refresh_token)).status, 200, 'a second tab')
  app.clock.advance(2 * MINUTE_MS)
  assert.equal((await ada.get('/api/auth/me')).body.email, ada.email)
  await app.restart()
  assert.deepEqual(await readTwin(), untouched)

  const last = await refresh(app, second.body.refresh_token)
  const { token } = createClient(app.url, last.body.access_token, ada)
  const session = { userId: ada.userId, sessionId: readSessionId(token) }
  const { platform } = app
  assert.equal(await isSessionLive(platform, platform.db, session), true)
  assert.equal((await endSession(ada, session.sessionId)).status, 200)
  assert.equal(await isSessionLive(platform, platform.db, session), false)
  for (const ended of [second, last])
    assert.equal((await refresh(app, ended.body.refresh_token)).status, 401)
  assert.equal((await ada.get('/api/auth/me')).status, 401)
  assert.deepEqual(await readTwin(), untouched)
})

test('a session is not live after its life, even for a refresh token that is', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  let tokens = await refresh(app, ada.refreshToken)
  for (let day = 29; day < 90; day += 29) {
    app.clock.advance(29 * DAY_MS)
    tokens = await refresh(app, tokens.body.refresh_token)
  }
  const session = { userId: ada.userId, sessionId: readSessionId(tokens.body.access_token) }
  const { platform } = app
  const { created_at } = await platform.db
    .selectFrom('sessions')
    .select('created_at')
    .where('id', '=', session.sessionId)
    .executeTakeFirstOrThrow()
  const endMs = Date.parse(created_at) + SESSION_LIFE_MS
  // Within the grace of a refresh, in which its token still works.
  app.clock.advance(endMs - 8 * SECOND_MS - app.clock.ms())
  const last = await refresh(app, tokens.body.refresh_token)
  assert.equal(last.status, 200)
  assert.equal(await isSessionLive(platform, platform.db, session), true)

  app.clock.advance(endMs - app.clock.ms())
  assert.equal(await isSessionLive(platform, platform.db, session), false)
  for (const expired of [last, tokens])
    assert.equal((await refresh(app, expired.body.refresh_token)).status, 401)
  const next = await signIn(app, ada.email)
  assert.deepEqual(await listSessionIds(next), [readSessionId(next.token)])
})

test('a session that has ended keeps the time of its end', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const id = readSessionId((await signIn(app, ada.email)).token)
  const readEnd = () =>
    app.platform.db
      .selectFrom('sessions')
      .select('revoked_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  assert.equal((await endSession(ada, id)).status, 200)
  assert.deepEqual(await listSessionIds(ada), [readSessionId(ada.token)])
  const end = await readEnd()

  app.clock.advance(MINUTE_MS)
  assert.equal((await endSession(ada, id)).status, 404)
  assert.equal((await ada.delete('/api/users/me/sessions')).status, 200)
  assert.deepEqual(await readEnd(), end)
})

test('a view of an account ends beside a user with the same ids', async (t) => {
  const app = await testApp(t)
  const { clock, platform } = app
  const root = await app.as('root', { superuser: true })
  const { userId } = await app.as('eve')
  const view = () => root.post(`/api/admin/users/${userId}/view`, { reason: 'A question' })
  const isOpen = async ({ body }: Awaited<ReturnType<typeof view>>) =>
    (await createClient(app.url, body.access_token, root).get('/api/auth/me')).status === 200
  const early = await view()
  const readTwin = await createTwin(app, root.userId)
  const untouched = await readTwin()

  assert.equal((await root.delete('/api/admin/view')).status, 200)
  assert.equal(await isOpen(early), false)
  clock.advance(4 * MINUTE_MS)
  const late = await view()
  assert.equal(late.status, 201, late.text)
  const countOpen = async () => {
    const open = platform.db.selectFrom('sessions').where('view_id', 'is not', null)
    return (await open.select('id').where('user_id', '=', root.userId).execute()).length
  }
  clock.advance(27 * MINUTE_MS)
  await app.settle()
  assert.equal(await countOpen(), 1, 'the end of the early view leaves the late one')
  clock.advance(4 * MINUTE_MS)
  await app.settle()
  assert.equal(await countOpen(), 0)

  const ended = await signIn(app, root.email)
  const viewer = { userId: root.userId, sessionId: readSessionId(ended.token) }
  assert.equal((await endSession(ended, viewer.sessionId)).status, 200)
  const again = app.service.identity.startView(viewer, { userId, reason: 'A question' })
  await assert.rejects(again, { status: 401 })
  assert.deepEqual(await readTwin(), untouched)
})

test('second factors and sign-in methods work beside those of a user with the same ids', async (t) => {
  const app = await testApp(t)
  const { platform } = app
  const { db } = platform
  const ada = await app.as('ada')
  const bob = await app.as('bob')
  const device = await addPasskey(app, ada)
  await throughProvider(app, 'google', { email: ada.email }, ada)
  const { recoveryCodes: oldCodes } = await enroll(app, ada)
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()

  const { options } = (await app.post('/api/auth/passkeys/login/options', {})).body
  const response = signChallenge(device, options, placeOf(app))
  const signedIn = await app.post('/api/auth/passkeys/login/verify', { response })
  assert.equal(signedIn.body.user.id, ada.userId, signedIn.text)

  const accepts = (text = '') => acceptCode(platform, db, ada.userId, text)
  assert.equal(await accepts(oldCodes[0]), true)
  await transaction(db, async (tx) => {
    assert.equal(await dropRecentTotp(platform, tx, bob.userId, '2000-01-01T00:00:00.000Z'), false)
    assert.equal(await dropRecentTotp(platform, tx, ada.userId, '2000-01-01T00:00:00.000Z'), true)
  })
  const { code, recoveryCodes } = await enroll(app, ada)
  assert.equal(await accepts(code()), true, 'by the secret of ada')
  assert.equal(await accepts(recoveryCodes[0]), true)
  const removal = { password: PASSWORD, code: code() }
  assert.equal((await ada.delete('/api/users/me/totp', removal)).status, 200)

  const key = {
    public_key: Buffer.alloc(1),
    counter: 0,
    transports: '',
    name: 'Key',
    last_used_at: null,
  }
  const keys = Array.from({ length: 20 }, (_, index) => ({
    ...key,
    user_id: bob.userId,
    id: String(index),
    credential_id: String(index),
    created_at: app.clock.now(),
  }))
  await db.insertInto('passkeys').values(keys).execute()
  await addPasskey(app, ada)
  await db.deleteFrom('passkeys').where('user_id', '=', bob.userId).execute()
  assert.equal(await hasOtherSignInMethod(db, bob.userId), false)
  assert.equal(await hasOtherSignInMethod(db, ada.userId), true)
  const removed = await transaction(db, (tx) => removeSignInMethods(tx, ada.userId))
  assert.deepEqual([removed.passkeys.length, removed.providers], [2, ['google']])
  assert.deepEqual(await readTwin(), untouched)
})

test('a device that a user with the same ids knows is new to the user', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const ada = await app.as('ada')
  const countDevices = async () => {
    const rows = await db
      .selectFrom('user_devices')
      .select('kind')
      .where('user_id', '=', ada.userId)
      .where('kind', '=', 'network')
      .execute()
    return rows.length
  }
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()

  app.clock.advance(2 * HOUR_MS)
  await signIn(app, ada.email)
  assert.equal(await countDevices(), 1)
  const origin = { userAgent: 'node', address: '127.0.0.1', device: undefined }
  assert.equal(await recognizeDevice(app.platform, ada.email, origin), 'network')
  await transaction(db, (tx) => forgetDevices(tx, ada.userId))
  assert.equal(await countDevices(), 0)
  assert.equal(await recognizeDevice(app.platform, ada.email, origin), null)
  await signIn(app, ada.email)
  assert.equal(await countDevices(), 1)
  await db.deleteFrom('user_devices').where('user_id', '=', ada.userId).execute()
  const isNew = await transaction(db, (tx) =>
    rememberDevice(
      app.platform,
      tx,
      ada.userId,
      { ...origin, address: '192.0.2.7' },
      app.clock.now(),
    ),
  )
  assert.equal(isNew, false, 'the first device of a user is no new one')
  assert.deepEqual(await readTwin(), untouched)
})

async function signIn(app: TestApp, email: string): Promise<Client> {
  const reply = await app.post('/api/auth/login', { email, password: PASSWORD })
  assert.equal(reply.status, 200, reply.text)
  const { access_token, refresh_token, user } = reply.body
  return createClient(app.url, access_token, {
    email,
    userId: user.id,
    refreshToken: refresh_token,
  })
}

function refresh(app: TestApp, refresh_token: string) {
  return app.post('/api/auth/refresh', { refresh_token })
}

async function listSessionIds(client: Client): Promise<string[]> {
  const { body } = await client.get('/api/users/me/sessions')
  return body.map(({ id }: { id: string }) => id)
}

function endSession(client: Client, id: string) {
  return client.delete(`/api/users/me/sessions/${id}`)
}

function readSessionId(accessToken: string): string {
  const [, payload = ''] = accessToken.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).sid
}

async function addPasskey(app: TestApp, client: Client): Promise<Device> {
  const { options } = (await client.post('/api/auth/passkeys/register/options')).body
  const { device, response } = createCredential(options, placeOf(app))
  const reply = await client.post('/api/auth/passkeys/register/verify', {
    response,
    name: 'Laptop',
  })
  assert.equal(reply.status, 200, reply.text)
  return device
}

function placeOf(app: TestApp) {
  const { origin, hostname } = new URL(app.config.urls.frontend)
  return { origin, rpId: hostname }
}

/** Each call of `code` returns the next code. */
async function enroll(app: TestApp, client: Client) {
  const { secret } = (await client.post('/api/users/me/totp')).body
  const code = () => {
    app.clock.advance(MINUTE_MS)
    return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
  }
  const reply = await client.post('/api/users/me/totp/confirm', { code: code() })
  assert.equal(reply.status, 200, reply.text)
  return { code, recoveryCodes: reply.body.recovery_codes as string[] }
}
