/**
 * Walks the whole product as its customers do, so that every operation has an example; `npm run
 * docs` stores them in docs/examples.json. Trap: a reply depends on earlier requests, so the order
 * of the lines matters.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { EXAMPLES_FILE, type Examples } from '#app/examples.ts'
import { buildUnsubscribeLinks } from '#billing/offers.ts'
import { insertEmail, updateEmail } from '#mail/email-log.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { PASSWORD, type Reply, type RequestOptions, type TestApp, testApp } from './app.ts'
import { createCredential, signChallenge } from './authenticator.ts'
import { paidSession, readCookie, signed } from './buyer.ts'
import { createRecorder, type Recorder, type Server } from './example-recorder.ts'
import { chooseAccount } from './provider.ts'
import { walkSetup } from './setup-walk.ts'
import { createShop, GOOD_CARD, PRICES } from './shop.ts'
import { writeZip } from './zip.ts'

const STORY =
  'The lighthouse of Saint-Malo was built by Amélie Duroc in 1882. Its lamp burns oil and is seen from twenty miles.'
const QUESTION = 'Who built the lighthouse?'

/** `prefix`: what the names of the people begin with, where others are on the service as well. */
export async function walkEverything(
  t: Parameters<typeof testApp>[0],
  { on, prefix = '' }: { on?: TestApp; prefix?: string } = {},
): Promise<Examples> {
  const app = on ?? (await testApp(t, { env: { DEBUG: 'true' } }))
  // Moves to the next morning, so that day names and time differences do not depend on the hour of
  // the run.
  app.clock.advance(DAY_MS - ((app.clock.ms() - 9 * HOUR_MS) % DAY_MS))
  const called = (name: string) => `${prefix}${name}`
  const walk = {
    app,
    recorder: await createRecorder(app),
    called,
    mailOf: (name: string) => `${called(name)}@example.com`,
  }
  const ada = await makeAccount(walk)
  await subscribe(walk, ada)
  const key = await makeKeys(walk, ada)
  await askModels(key)
  await storeDocuments(walk, ada, '/api/library')
  await storeDocuments(walk, key, '/api/rag')
  await askDocuments(key)
  await keepConversations(walk, ada)
  await ada.get('/api/usage/durations')
  await ada.get('/api/usage?group_by=model')
  await ada.get('/api/ai/plan-models')
  // Begins a window of the key's rate limit, whose count would depend on the duration of the walk.
  app.clock.advance(2 * MINUTE_MS)
  await key.get('/api/usage/allowance')
  await key.get('/api/api-keys/self')
  const { calls } = (await ada.get('/api/usage/calls?outcome=ok&limit=2')).body
  await ada.get(`/api/usage/calls/${calls[0].id}`)
  await guardAccount(walk, ada)
  await signInElsewhere(walk)
  await browseStorefront(walk)
  await administer(walk)
  if (on === undefined) Object.assign(walk.recorder.examples.api, await walkSetup(t))
  return walk.recorder.examples
}

type Walk = {
  app: TestApp
  recorder: Recorder
  called(name: string): string
  mailOf(name: string): string
}
type Calls = ReturnType<typeof createCalls>

/** Recorded calls. */
function createCalls({ recorder }: Walk, server: Server, headers: Record<string, string> = {}) {
  const send =
    (method: string) =>
    (path: string, body?: unknown, options: RequestOptions = {}): Promise<Reply> =>
      recorder.call(server, method, path, {
        ...options,
        body,
        headers: { ...headers, ...options.headers },
      })
  return {
    headers,
    get: send('GET'),
    post: send('POST'),
    patch: send('PATCH'),
    put: send('PUT'),
    delete: send('DELETE'),
  }
}

async function makeAccount(walk: Walk): Promise<Calls> {
  const { app } = walk
  const email = walk.mailOf('ada')
  const anyone = createCalls(walk, 'api')
  await anyone.get('/healthz')
  await anyone.get('/readyz')
  await anyone.get('/.well-known/jwks.json')
  await anyone.get('/.well-known/oauth-protected-resource/mcp')
  await anyone.get('/api/billing/plans')
  await anyone.post('/api/auth/register', { email, password: PASSWORD, full_name: 'Ada Lovelace' })
  await anyone.post('/api/auth/resend-verification', { email })
  await anyone.post('/api/auth/verify-email', {
    token: await mailedToken(app, email, '/verify-email'),
  })
  await anyone.post('/api/auth/forgot-password', { email })
  const token = await mailedToken(app, email, '/reset-password')
  await anyone.post('/api/auth/verify-reset-token', { token })
  await anyone.post('/api/auth/reset-password', { token, new_password: PASSWORD })
  const { body } = await anyone.post('/api/auth/login', { email, password: PASSWORD })
  await anyone.post('/api/auth/refresh', { refresh_token: body.refresh_token })
  await anyone.post('/api/auth/logout')

  const ada = await openSession(walk, email)
  await ada.get('/api/auth/me')
  await ada.get('/api/users/me')
  await ada.patch('/api/users/me', {
    full_name: 'Ada King',
    avatar_url: 'https://example.com/ada.png',
  })
  return ada
}

/** Signs in without being recorded. */
async function openSession(walk: Walk, email: string, password = PASSWORD): Promise<Calls> {
  const { body, text } = await walk.app.post('/api/auth/login', { email, password })
  if (!body.access_token) throw new Error(`signing ${email} in: ${text}`)
  return createCalls(walk, 'api', { authorization: `Bearer ${body.access_token}` })
}

/** The token in the newest email's link. */
async function mailedToken(app: TestApp, to: string, page: string): Promise<string> {
  const links = (await app.mail(to)).flatMap((email) => email.links)
  const link = links.find((one) => one.includes(page))
  if (!link) throw new Error(`no link to ${page} in the emails to ${to}: ${links}`)
  return new URL(link).searchParams.get('token') ?? ''
}

async function subscribe(walk: Walk, ada: Calls): Promise<void> {
  const { app } = walk
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  await createShop(app).pay(body.url)
  await ada.get('/api/billing/subscription')
  await ada.post('/api/billing/create-portal-session')
  await ada.get('/api/billing/invoices')
  await ada.post('/api/billing/create-payment-session')
  const choice = { price_id: PRICES.enterprise }
  const preview = await ada.post('/api/billing/change/preview', choice)
  await ada.post('/api/billing/change', { ...choice, proration_at: preview.body.proration_at })
  await ada.post('/api/billing/pause')
  await ada.post('/api/billing/resume')
  await ada.patch('/api/billing/offers', { by_mail: true })
  const { unsubscribePage } = buildUnsubscribeLinks(
    app.platform,
    (await ada.get('/api/users/me')).body.id,
  )

  await createCalls(walk, 'api').post(
    `/api/billing/offers/unsubscribe${new URL(unsubscribePage).search}`,
  )
  const invoice = { id: 'in_3QK7Vq2eZvKYlo2C', object: 'invoice' }
  await sendEvent(walk, 'api', '/api/billing/webhook', 'invoice.finalized', invoice)
}

function sendEvent(
  walk: Walk,
  server: Server,
  path: string,
  type: string,
  object: object,
): Promise<Reply> {
  const { webhookSecret, storefrontWebhookSecret } = walk.app.config.processor
  const payload = JSON.stringify({
    id: 'evt_3QK7Vq2eZvKYlo2CexampleA',
    object: 'event',
    type,
    data: { object },
  })
  const secret = (server === 'api' ? webhookSecret : storefrontWebhookSecret) ?? ''
  const headers = {
    'content-type': 'application/json',
    'stripe-signature': signed(payload, secret, walk.app.clock.ms()),
  }
  return createCalls(walk, server).post(path, payload, { headers })
}

/** @returns calls with an API key. */
async function makeKeys(walk: Walk, ada: Calls): Promise<Calls> {
  const { body } = await ada.post('/api/api-keys', {
    name: 'laptop',
    expires_at: null,
    scopes: ['ai', 'rag', 'usage'],
    rate_limit: { requests: 600, seconds: 60 },
    budget: { limit_usd: 5, period: 'week' },
    addresses: ['127.0.0.0/8', '::1'],
  })
  const rotated = await ada.post(`/api/api-keys/${body.id}/rotate`, { grace_seconds: 0 })
  await ada.get('/api/api-keys')
  const spare = await walk.app.post('/api/api-keys', { name: 'spare' }, { headers: ada.headers })
  await ada.patch(`/api/api-keys/${spare.body.id}?name=batch`, {
    models: ['gpt-*'],
    monthly_token_limit: 1_000_000,
    budget: { limit_usd: 2.5, period: 'day' },
  })
  await ada.delete(`/api/api-keys/${spare.body.id}`)
  return createCalls(walk, 'api', { authorization: `Bearer ${rotated.body.key}` })
}

async function askModels(key: Calls): Promise<void> {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  await key.get('/api/ai/models')
  await key.post('/api/ai/chat', { messages, max_tokens: 100 })
  await key.post('/api/ai/chat', { messages, stream: true })
  await key.post('/api/ai/completions', { prompt: 'Say hello.' })
  const { body } = await key.get('/v1/models')
  const { id } = body.data.find(({ capabilities }: { capabilities: object | null }) => capabilities)
  await key.get(`/v1/models/${id}`)
  await key.post('/v1/chat/completions', { model: id, messages })
  await key.post('/v1/chat/completions', { model: id, messages, stream: true })
  await key.post('/v1/responses', { model: id, input: 'Say hello.' })
  await key.post('/v1/responses', { model: id, input: 'Say hello.', stream: true })
  await key.post('/v1/responses/input_tokens', { model: id, input: 'Say hello.' })
  await key.post('/v1/messages', { model: id, max_tokens: 100, messages })
  await key.post('/v1/messages', { model: id, max_tokens: 100, messages, stream: true })
  await key.post('/v1/messages/count_tokens', { model: id, messages })
  await key.post('/v1/embeddings', { model: 'local', input: 'Say hello.' })
}

/** Keeps the documents that the questions of askDocuments are about. */
async function storeDocuments(
  { app }: Walk,
  person: Calls,
  prefix: '/api/rag' | '/api/library',
): Promise<void> {
  const form = new FormData()
  form.set('file', new Blob([STORY]), 'lighthouse.txt')
  const { body: collection } = await person.post(`${prefix}/collections`, {
    name: 'Lighthouses',
    colour: 'teal',
  })
  const file = await person.post(`${prefix}/ingest/file`, form)
  await person.get(`${prefix}/documents/${file.body.document_ids[0].slice(0, 12)}/file`)
  const { body } = await person.post(`${prefix}/ingest/text`, {
    content: 'The harbour of Saint-Malo freezes in no winter.',
    metadata: { place: 'coast' },
    external_id: 'harbour-1',
  })
  const later = {
    content: 'The lamp of Tatihou was lit with rape oil until 1854.',
    external_id: 'lamp-1',
  }
  const queued = await person.post(`${prefix}/ingest/text`, later, {
    headers: { prefer: 'respond-async' },
  })
  await app.settle()
  await person.get(`${prefix}/jobs?limit=1`)
  await person.get(`${prefix}/jobs/${queued.body.job_id}`)
  await person.delete(`${prefix}/jobs/${queued.body.job_id}`)
  await person.get(`${prefix}/documents`)
  await person.delete(`${prefix}/documents?source=none`)
  const document = `${prefix}/documents/${body.document_ids[0].slice(0, 12)}`
  await person.get(document)
  await person.get(`${document}/text`)
  await person.get(`${prefix}/storage`)
  await person.post(`${prefix}/search`, { query: QUESTION, top_k: 1 })
  const collected = `${prefix}/collections/${collection.id}`
  await person.patch(collected, { instructions: 'Answer in one sentence.' })
  await person.put(`${collected}/documents/${file.body.document_ids[0].slice(0, 12)}`)
  await person.get(`${prefix}/collections`)
  await person.delete(`${collected}/documents/${file.body.document_ids[0].slice(0, 12)}`)
  await person.delete(collected)
  await person.delete(`${prefix}/documents/${body.document_ids[0]}`)
}

async function askDocuments(key: Calls): Promise<void> {
  await key.post('/api/rag/query', { question: QUESTION, min_score: 0.2 })
  await key.post('/api/rag/query', {
    question: QUESTION,
    min_score: 0.2,
    stream: true,
    include_sources: true,
  })
  const call = { name: 'search', arguments: { query: QUESTION, top_k: 1 } }
  await key.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
}

async function keepConversations(walk: Walk, ada: Calls): Promise<void> {
  const { body } = await ada.post('/api/conversations', {
    title: 'Lighthouses',
    settings: { instructions: 'Answer in one sentence.' },
  })
  const conversation = `/api/conversations/${body.id}`
  await ada.patch(conversation, { is_pinned: true })
  await ada.get('/api/conversations/models')
  const parts = [{ type: 'text', text: QUESTION }]
  await ada.post(`${conversation}/messages`, { parts })
  await ada.get('/api/conversations?q=light')
  await ada.get('/api/conversations/settings')
  await ada.put('/api/conversations/settings', { keeps_conversations: true })
  const [, answer] = (await ada.get(conversation)).body.messages
  await ada.get(`${conversation}/messages/${answer.id}/stream`)
  await ada.post(`${conversation}/stop`)
  await ada.post('/api/conversations/temporary', { messages: [{ role: 'user', parts }] })
  const share = (
    await ada.post(`${conversation}/shares`, { leaf_id: answer.id, with_sources: true })
  ).body
  await ada.get('/api/conversations/export')
  await ada.get('/api/shares')
  await ada.put(`/api/shares/${share.id}`, { expires_at: null })
  await createCalls(walk, 'api').get(`/api/shared/${share.token}`)
  await ada.post(`/api/shared/${share.token}/copy`)
  await ada.delete(`/api/shares/${share.id}`)
  await ada.delete(conversation)
  await ada.delete('/api/conversations', { confirm: true })
  await ada.post('/api/conversations/import', {
    conversations: [
      {
        id: 'tide-tables',
        title: 'Tide tables',
        messages: [
          {
            id: '1',
            parent_id: null,
            role: 'user',
            parts: [{ type: 'text', text: 'When is low tide?' }],
          },
          {
            id: '2',
            parent_id: '1',
            role: 'assistant',
            parts: [{ type: 'text', text: 'At noon.' }],
          },
        ],
      },
    ],
  })
}

/** Sign-in methods, sessions, and changes of the account. */
async function guardAccount(walk: Walk, ada: Calls): Promise<void> {
  const { app } = walk
  const anyone = createCalls(walk, 'api')
  const { origin, hostname: rpId } = new URL(app.config.urls.frontend)
  const { options } = (await ada.post('/api/auth/passkeys/register/options')).body
  const { device, response } = createCredential(options, { origin, rpId })
  await ada.post('/api/auth/passkeys/register/verify', { response, name: 'Laptop' })
  const login = (await anyone.post('/api/auth/passkeys/login/options')).body.options
  await anyone.post('/api/auth/passkeys/login/verify', {
    response: signChallenge(device, login, { origin, rpId }),
  })
  const [passkey] = (await ada.get('/api/auth/passkeys')).body
  await ada.delete(`/api/auth/passkeys/${passkey.id}`)

  const sessions = (await ada.get('/api/users/me/sessions')).body
  const otherSession = sessions.find(({ current }: { current: boolean }) => !current)
  await ada.delete(`/api/users/me/sessions/${otherSession.id}`)
  await ada.delete('/api/users/me/sessions')
  await ada.get('/api/users/me/audit?limit=2')
  await ada.post('/api/auth/storefront', { state: 'from-the-address-that-the-storefront-led-to' })
  await ada.get('/api/users/me/export')
  await ada.post('/api/users/me/change-password', {
    current_password: PASSWORD,
    new_password: 'a longer battery horse',
  })
  await ada.post('/api/users/me/change-email', {
    new_email: walk.mailOf('ada.king'),
    password: 'a longer battery horse',
  })
  await anyone.post('/api/auth/undo-email-change', {
    token: await mailedToken(app, walk.mailOf('ada'), '/undo-email-change'),
  })
}

/** Through a provider, with a second factor, and out. */
async function signInElsewhere(walk: Walk): Promise<void> {
  const { app } = walk
  const anyone = createCalls(walk, 'api')
  const started = await anyone.get('/api/auth/oauth/google')
  const target = await finish(started)
  const olga = createCalls(walk, 'api', {
    authorization: `Bearer ${target.searchParams.get('access_token')}`,
  })
  await finish(await olga.post('/api/users/me/oauth/github'))
  await olga.get('/api/users/me/oauth')
  await olga.delete('/api/users/me/oauth/github')

  const { secret } = (await olga.post('/api/users/me/totp')).body
  const code = () =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
  app.clock.advance(30_000 - (app.clock.ms() % 30_000))
  await olga.post('/api/users/me/totp/confirm', { code: code() })
  const challenge = (await finish(await app.get('/api/auth/oauth/google'))).searchParams.get(
    'challenge',
  )
  app.clock.advance(30_000)
  const again = await anyone.post('/api/auth/challenge', { challenge, code: code() })
  const fresh = createCalls(walk, 'api', { authorization: `Bearer ${again.body.access_token}` })
  app.clock.advance(30_000)
  await fresh.delete('/api/users/me/totp', { code: code() })
  await fresh.delete('/api/users/me', { confirm: 'DELETE' })

  async function finish({ headers, body }: Reply): Promise<URL> {
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    const walked = { cookie, authorization: new URL(body.authorization_url), state: body.state }
    const back = await chooseAccount(app, walked, { email: walk.mailOf('olga'), name: 'Olga' })
    const reply = await anyone.get(back.pathname + back.search, undefined, { headers: { cookie } })
    return new URL(reply.headers.get('location') ?? '')
  }
}

async function browseStorefront(walk: Walk): Promise<void> {
  const { app } = walk
  const { userId, email } = await app.as(walk.called('buyer'))
  const anyone = createCalls(walk, 'storefront')
  await anyone.get('/healthz')
  await anyone.get('/readyz')
  const session = await anyone.post('/api/session', { email, password: PASSWORD })
  const buyer = createCalls(walk, 'storefront', { cookie: readCookie(session) })
  await buyer.get('/api/checkout?tier=pro')
  await sendEvent(
    walk,
    'storefront',
    '/api/processor/webhook',
    'checkout.session.completed',
    paidSession(userId, 'pro'),
  )
  const [{ id }] = (await buyer.get('/api/purchases')).body
  await buyer.post('/api/checkout', { tier: 'enterprise', from: id })
  const archive = await buyer.get(`/api/download?purchase_id=${id}`)
  await buyer.get('/api/download/history')
  const license = { license_key: archive.headers.get('x-license-key') }
  await anyone.post('/api/license/verify', license)
  const machine = { ...license, fingerprint: 'c0ffee', name: 'Laptop', platform: 'linux-x64' }
  const { activation_id } = (await anyone.post('/api/license/activate', machine)).body
  await anyone.post('/api/license/file', { ...license, fingerprint: 'c0ffee' })
  await anyone.get('/.well-known/license-keys.json')
  const ci = (await buyer.post(`/api/purchases/${id}/tokens`, { name: 'CI' })).body
  await buyer.get(`/api/purchases/${id}/tokens`)
  const pipeline = createCalls(walk, 'storefront', { authorization: `Bearer ${ci.token}` })
  await pipeline.get('/api/updates/pro?version=1.0.0')
  await pipeline.get('/download/pro/latest.zip')
  await buyer.delete(`/api/purchases/${id}/tokens/${ci.id}`)
  await buyer.get(`/api/purchases/${id}/activations`)
  await anyone.post('/api/license/deactivate', { ...license, activation_id })
  const again = (await anyone.post('/api/license/activate', machine)).body
  await buyer.delete(`/api/purchases/${id}/activations/${again.activation_id}`)
  await buyer.post(`/api/purchases/${id}/rotate-key`)
  await anyone.post('/api/purchases/recover', { email })
  await anyone.post('/api/contact', {
    name: 'Ada',
    email: walk.mailOf('ada'),
    subject: 'sales',
    message: 'Do you ship to the coast?',
  })
  await buyer.delete('/api/session')
  await buyAsGuest(walk, anyone)
}

async function administer(walk: Walk): Promise<void> {
  const { app } = walk
  const { email, userId } = await app.as(walk.called('root'))
  await sql`update users set is_superuser = ${true} where id = ${userId}`.execute(app.platform.db)
  const root = await openSession(walk, email)
  await root.get('/metrics')
  await root.get('/api/admin/stats')
  await root.get('/api/admin/usage?group_by=vendor')
  // Two days: the number of months in a longer span depends on the day of the run.
  const yesterday = new Date(app.clock.ms() - DAY_MS).toISOString().slice(0, 10)
  const days = `from=${yesterday}&to=${app.clock.now().slice(0, 10)}`
  await root.get(`/api/admin/metrics?names=mrr,revenue,gross_margin&${days}`)
  await root.get(`/api/admin/metrics.csv?names=revenue,signups&${days}`)
  await root.get('/api/admin/subscription-changes')
  await root.get('/api/admin/movements?type=payment&limit=2')
  await root.get('/api/admin/movements.csv')
  await root.get('/api/admin/invoices?limit=2')
  await root.get(`/api/admin/calls?limit=2&${days}`)
  await root.get(`/api/admin/documents?limit=2&${days}`)
  const { users } = (await root.get('/api/admin/users?limit=2')).body
  await createCalls(walk, 'storefront', root.headers).get('/metrics')
  await root.patch(`/api/admin/users/${users[1].id}`, {
    is_verified: true,
    subscription_tier: 'enterprise',
  })
  await app.settle()
  await readCustomer(walk, root)
  const [message] = (await root.get('/api/admin/contact-messages')).body.messages
  const inbox = `/api/admin/contact-messages/${message.id}`
  await root.post(`${inbox}/assign`, { user_id: userId })
  await root.post(`${inbox}/reply`, { message: 'We do, on every weekday.' })
  await root.post(`${inbox}/close`, { closed: true })
  await manageOrders(walk, root)
  await root.post('/api/admin/invitations', { email: walk.mailOf('grace') })
  await root.get('/api/admin/invitations')
  await root.delete(`/api/admin/invitations?email=${walk.mailOf('grace')}`)
  await root.get('/api/admin/audit?limit=2')

  await root.get('/api/admin/models')
  await root.get('/api/admin/catalogue')
  await root.get('/api/admin/health')
  await root.get('/api/admin/brand')
  const brand = { name: 'Zebra', colours: { primary: '#1d4ed8' } }
  await root.post('/api/admin/brand/preview', brand)
  await root.put('/api/admin/brand', brand)
  await root.get('/api/brand')
  await root.put('/api/admin/brand', {})

  const off = { kind: 'model', subject: 'openai/gpt-6*', reason: 'Its price is being looked into.' }
  await root.get('/api/admin/switches/effect?kind=model&subject=openai%2Fgpt-6*')
  await root.post('/api/admin/switches', off)
  await root.get('/api/admin/switches')
  await root.delete('/api/admin/switches?kind=model&subject=openai%2Fgpt-6*')

  const gaveUp = () => Promise.reject(new Error('the vendor is away'))
  app.platform.jobs.handle('mail.send.example', gaveUp, { delaysMs: [] })
  await app.platform.jobs.enqueue(app.platform.db, 'mail.send.example', {})
  await app.settle()
  await failEmail(walk)
  const { dead: emails } = (await root.get('/api/admin/jobs?about=emails')).body
  await root.delete(`/api/admin/jobs/${emails[0].id}`)
  const { dead } = (await root.get('/api/admin/jobs')).body
  await root.post(`/api/admin/jobs/${dead[0].id}/retry`)
  await root.post('/api/admin/jobs/retry', { about: 'emails' })
  await root.get('/api/admin/emails?state=failed')
  app.platform.inbox.handle('processor.example', async () => {})
  await app.platform.inbox.receive('processor.example', 'evt_1QxYz2AbCdEfGhIj', {})
  // The event is marked a moment after `receive` replies.
  const unmarked = app.platform.db
    .selectFrom('inbox')
    .select('event_id')
    .where('handled_at', 'is', null)
  while (await unmarked.executeTakeFirst()) await wait(10)
  await root.get('/api/admin/events?limit=1')
  await root.get('/api/admin/billing/disagreements')
  await root.post('/api/admin/billing/sync')
  await app.settle()
  await root.get('/api/admin/time-machine')
  await root.post('/api/admin/time-machine', {
    to: new Date(app.clock.ms() + MINUTE_MS).toISOString(),
  })
}

/** An email that the mail server has refused for two days. */
async function failEmail({ app, mailOf }: Walk): Promise<void> {
  const { db, clock, jobs } = app.platform
  const email = { to: mailOf('grace'), subject: 'Your plan is now Pro', text: '', html: '' }
  await jobs.enqueue(db, 'mail.send', email, { runAt: plus(clock.now(), DAY_MS), key: email.to })
  await db
    .updateTable('jobs')
    .set({ status: 'dead', attempts: 13, last_error: '550 no such mailbox' })
    .where('dedupe_key', '=', email.to)
    .execute()
  const id = randomUUID()
  await insertEmail(db, id, email, clock.now())
  const error = '550 no such mailbox'
  await updateEmail(db, id, email, { state: 'failed', error, at: clock.now() })
}

/** A superuser finds a subscriber, refunds a part of their payment and signs them out. */
async function readCustomer(walk: Walk, root: Calls): Promise<void> {
  const { app } = walk
  const { users } = (await root.get(`/api/admin/users?find=${walk.mailOf('ada')}`)).body
  const customer = `/api/admin/users/${users[0].id}`
  const { payments } = (await root.get(customer)).body
  const body = { amount: 100, reason: 'Slow answers on Monday' }
  await root.post(`/api/admin/payments/${payments[0].id}/refund`, body)
  await app.settle()
  await root.get(`${customer}/events?about=money`)
  const price = PRICES.pro
  const { body: preview } = await root.post(`${customer}/plan/preview`, { price_id: price })
  const change = { price_id: price, proration_at: preview.proration_at }
  await root.post(`${customer}/plan`, change)
  await app.settle()
  await root.post(`${customer}/view`, { reason: 'An invoice that they cannot find' })
  await root.delete('/api/admin/view')
  await root.post(`${customer}/sign-out`)
}

/** A guest pays, and opens the new account with the mailed link. */
async function buyAsGuest(walk: Walk, anyone: Calls): Promise<void> {
  const { app } = walk
  const email = walk.mailOf('gina')
  const { url } = (await anyone.post('/api/checkout', { tier: 'basic', email })).body
  await createShop(app).pay(url, GOOD_CARD, { email })
  await app.store('GET', `/purchased?session_id=${new URL(url).pathname.split('/').at(-1)}`)
  await app.settle()
  const links = (await app.mail(email)).flatMap((mail) => mail.links)
  const token = new URL(links.find((link) => link.includes('/claim?')) ?? '').searchParams.get(
    'token',
  )
  await anyone.post('/api/claim', { token })
}

/** A buyer pays for real, so that the processor can refund the payment. */
async function manageOrders(walk: Walk, root: Calls): Promise<void> {
  const { app } = walk
  const { email } = await app.as(walk.called('olaf'))
  const session = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
  const headers = { cookie: readCookie(session) }
  const checkout = await app.store('GET', '/api/checkout?tier=basic', { headers })
  const url = checkout.headers.get('location') ?? ''
  const shop = createShop(app)
  await shop.pay(url)
  const id = new URL(url).pathname.split('/').at(-1)
  await app.store('GET', `/dashboard?success=true&session_id=${id}`, { headers })
  await app.settle()

  const { purchases } = (await root.get(`/api/admin/purchases?q=${email}`)).body
  await createCalls(walk, 'storefront', headers).get(`/api/purchases/${purchases[0].id}/invoice`)
  const order = `/api/admin/purchases/${purchases[0].id}`
  await root.get(`/api/admin/purchases.csv?q=${email}`)
  const rotate = `/api/purchases/${purchases[0].id}/rotate-key`
  const { license_key } = (await app.store('POST', rotate, { headers })).body
  const body = { license_key, fingerprint: 'c0ffee', name: 'Laptop', platform: 'linux-x64' }
  await app.store('POST', '/api/license/activate', { body })
  const [machine] = (await root.get(order)).body.machines
  await root.delete(`${order}/activations/${machine.id}`)
  await root.post(`${order}/resend`)
  await root.post(`${order}/reset-downloads`)
  await root.post(`${order}/extend`, {
    until: new Date(app.clock.ms() + 730 * DAY_MS).toISOString(),
  })
  await root.post(`${order}/activations`, { limit: 5 })
  await root.post(`${order}/revoke`, { reason: 'The key was published.' })
  await root.post(`${order}/restore`)
  const discount = await root.post('/api/admin/discounts', {
    code: walk.called('SUMMER'),
    percent_off: 20,
    tiers: ['pro'],
    owners_of: 'basic',
  })
  await root.get('/api/admin/discounts')
  await editProducts(walk, root)
  await root.delete(`/api/admin/discounts/${discount.body.id}`)
  const anyone = createCalls(walk, 'storefront')
  const { body: withdrawal } = await anyone.post('/api/withdrawals', {
    order: purchases[0].id,
    email: walk.mailOf('nobody'),
  })
  await anyone.post(`/api/withdrawals/${withdrawal.id}/confirm`)
  await root.post(`${order}/refund`, { amount: 5_000, reason: 'The delivery was late.' })
  const { data } = await shop.processor.charges.list({
    payment_intent: purchases[0].payment_ref,
  })
  await shop.press(`/sandbox/processor/charges/${data[0]?.id}/dispute`)
  await app.settle()
  await root.get('/api/admin/disputes')
}

/** The product is retired again, so that the walk leaves the shop as it was. */
async function editProducts({ called }: Walk, root: Calls): Promise<void> {
  const course = {
    name: 'Course',
    price: 49.5,
    currency: 'eur',
    description: 'Twelve lessons with their source code.',
    features: ['Twelve lessons'],
    faq: [{ question: 'For whom is it?', answer: 'For **everyone** who writes TypeScript.' }],
    comparison: { Support: 'Email' },
  }
  const tier = called('course')
  const { revision } = (await root.post('/api/admin/products', { tier, ...course })).body
  await root.put(`/api/admin/products/${tier}`, { ...course, price: 59.5, revision })
  await root.get('/api/admin/products')
  await publishRelease(root, `/api/admin/products/${tier}/releases`)
  await root.delete(`/api/admin/products/${tier}`)
}

async function publishRelease(root: Calls, releases: string): Promise<void> {
  const zip = writeZip([
    { name: 'README.md', content: 'Twelve lessons.' },
    { name: '.DS_Store', content: '' },
  ])
  const form = new FormData()
  form.append('version', '1.0.0')
  form.append('notes', 'The first release.')
  form.append('file', new Blob([new Uint8Array(zip)]), 'course.zip')
  await root.post(releases, form)
  const release = `${releases}/1.0.0`
  form.set('version', '0.9.0')
  await root.post(releases, form)
  await root.delete(`${releases}/0.9.0`)
  await root.patch(release, { notes: 'The first release, with **twelve** lessons.' })
  await root.post(`${release}/publish`)
  await root.post(`${release}/withdraw`)
  await root.get(releases)
}

if (import.meta.main) void write()

async function write(): Promise<void> {
  const endings: (() => unknown)[] = []
  const examples = await walkEverything({
    after: (ending: () => unknown) => endings.push(ending),
  } as never)
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(examples, null, 2)}\n`)
  for (const ending of endings) await ending()
  process.exit()
}
