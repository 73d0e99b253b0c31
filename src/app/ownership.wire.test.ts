/**
 * Every route that takes an id, asked by eve for what is ada's: she reads what she would of an id
 * that nobody has, and ada's stays as it was. `ASKED` lists the owner of each id; a route whose id
 * is in no table here fails the test by name.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeCursor } from '#platform/http/keyset.ts'
import {
  type Client,
  call,
  createClient,
  PASSWORD,
  type Reply,
  type TestApp,
} from '#testing/app.ts'
import { createCredential } from '#testing/authenticator.ts'
import { openShop } from '#testing/buyer.ts'
import { joinTokens, readEvents } from '#testing/events.ts'
import { throughProvider } from '#testing/provider.ts'
import { createTwin, readUserRows } from '#testing/twin.ts'

/** One of ada's for each kind of id. */
type Things = Record<
  | 'session'
  | 'passkey'
  | 'link'
  | 'key'
  | 'document'
  | 'otherDocument'
  | 'collection'
  | 'otherCollection'
  | 'ingestJob'
  | 'externalId'
  | 'source'
  | 'user'
  | 'job'
  | 'otherJob'
  | 'purchase'
  | 'activation'
  | 'downloadToken'
  | 'otherDownloadToken'
  | 'checkout'
  | 'call'
  | 'callRecord'
  | 'cursor'
  | 'conversation'
  | 'message'
  | 'contact'
  | 'discount'
  | 'share'
  | 'answer',
  string
>
type Asked = {
  thing: keyof Things
  body?: (id: string) => object
  query?: (id: string) => string
  /** The status that eve gets; 404 by default. */
  status?: number
  /** The caller, when it is not ada. */
  owner?: 'root'
  /** The thing of ada that the second id of the address names. */
  second?: keyof Things
  /** The first id of the address names a thing of the caller; the id in question comes after it. */
  path?: keyof Own
  /** The status that the owner gets; 200, 201 or 204 by default. */
  ownerStatus?: number
}

/** Ids of each caller's own objects, for addresses with more than one id. */
type Own = {
  conversation: string
  answer: string
  share: string
  collection: string
  document: string
  purchase: string
}

const NOT_RENEWABLE: Asked = { thing: 'purchase', status: 409 }
const ADMIN_MESSAGE: Asked = { thing: 'contact', status: 403, owner: 'root' }
const ADMIN_PURCHASE: Asked = { thing: 'purchase', status: 403, owner: 'root' }

const ADMIN_USER: Asked = { thing: 'user', status: 403, owner: 'root' }

const askAgain = () => ({ parts: [{ type: 'text', text: 'Who keeps pigs?' }] })

const askDocument = (document_id: string) => ({
  parts: [...askAgain().parts, { type: 'document', document_id, name: 'diary.txt' }],
})

/** By method, address and field. */
const ASKED_ONCE: Record<string, Asked> = {
  'DELETE /api/users/me/sessions/:id id': { thing: 'session' },

  'DELETE /api/auth/passkeys/:id id': { thing: 'passkey' },
  'DELETE /api/users/me/oauth/:provider provider': { thing: 'link' },
  'PATCH /api/api-keys/:key_id key_id': { thing: 'key', query: () => '?name=hers' },
  'POST /api/api-keys/:key_id/rotate key_id': { thing: 'key', body: () => ({ grace_seconds: 60 }) },
  'DELETE /api/api-keys/:key_id key_id': { thing: 'key' },
  'DELETE /api/rag/documents/:document_id document_id': { thing: 'document' },
  'GET /api/rag/documents/:document_id document_id': { thing: 'document' },
  'GET /api/rag/documents/:document_id/text document_id': { thing: 'document' },
  'GET /api/rag/documents/:document_id/file document_id': { thing: 'document' },
  'GET /api/rag/documents external_id': {
    thing: 'externalId',
    status: 200,
    query: (id) => `?external_id=${encodeURIComponent(id)}`,
  },
  'GET /api/rag/documents source': {
    thing: 'source',
    status: 200,
    query: (id) => `?source=${encodeURIComponent(id)}`,
  },
  'DELETE /api/rag/documents external_id': {
    thing: 'externalId',
    status: 200,
    query: (id) => `?external_id=${encodeURIComponent(id)}`,
  },
  'DELETE /api/rag/documents source': {
    thing: 'source',
    status: 200,
    query: (id) => `?source=${encodeURIComponent(id)}`,
  },
  'GET /api/rag/documents collection': {
    thing: 'collection',
    query: (id) => `?collection=${id}`,
  },
  'PATCH /api/rag/collections/:id id': { thing: 'collection', body: () => ({ name: 'hers' }) },
  'DELETE /api/rag/collections/:id id': { thing: 'collection' },
  'PUT /api/rag/collections/:id/documents/:document_id id': {
    thing: 'collection',
    path: 'document',
  },
  'PUT /api/rag/collections/:id/documents/:document_id document_id': {
    thing: 'document',
    path: 'collection',
  },
  'DELETE /api/rag/collections/:id/documents/:document_id id': {
    thing: 'collection',
    path: 'document',
  },
  'DELETE /api/rag/collections/:id/documents/:document_id document_id': {
    thing: 'document',
    path: 'collection',
  },
  'POST /api/rag/search collections': {
    thing: 'collection',
    body: (id) => ({ query: 'What is a secret of hers?', collections: [id] }),
  },
  'POST /api/rag/query collections': {
    thing: 'collection',
    body: (id) => ({ question: 'What is a secret of hers?', collections: [id] }),
  },
  'POST /api/rag/ingest/text collections': {
    thing: 'collection',
    body: (id) => ({ content: 'Eve was here.', collections: [id] }),
  },
  'POST /api/rag/ingest/file collections': {
    thing: 'collection',
    body: (id) => formOf('eve.txt', { collections: id }),
  },
  'GET /api/rag/jobs/:id id': { thing: 'ingestJob' },
  'DELETE /api/rag/jobs/:id id': { thing: 'ingestJob' },
  'GET /api/conversations/:id id': { thing: 'conversation' },
  'GET /api/conversations/:id before': {
    thing: 'message',
    path: 'conversation',
    query: (id) => `?before=${id}`,
  },
  'PATCH /api/conversations/:id id': { thing: 'conversation', body: () => ({ title: 'hers' }) },
  'PATCH /api/conversations/:id leaf_id': {
    thing: 'message',
    path: 'conversation',
    body: (id) => ({ leaf_id: id }),
  },
  'POST /api/conversations/:id/messages id': { thing: 'conversation', body: askAgain },
  'POST /api/conversations/:id/messages parent_id': {
    thing: 'message',
    path: 'conversation',
    body: (id) => ({ ...askAgain(), parent_id: id }),
  },
  'POST /api/conversations/:id/messages replaces': {
    thing: 'answer',
    path: 'conversation',
    body: (id) => ({ replaces: id }),
  },
  'POST /api/conversations/:id/messages document_id': {
    thing: 'document',
    path: 'conversation',
    status: 200,
    body: askDocument,
  },
  'POST /api/conversations/temporary document_id': {
    thing: 'document',
    status: 200,
    body: (id) => ({ messages: [{ role: 'user', ...askDocument(id) }] }),
  },
  'GET /api/conversations/:id/messages/:messageId/stream id': { thing: 'conversation' },
  'GET /api/conversations/:id/messages/:messageId/stream messageId': {
    thing: 'answer',
    path: 'conversation',
  },
  'POST /api/conversations/:id/stop id': { thing: 'conversation' },
  'POST /api/conversations/:id/shares id': {
    thing: 'conversation',
    body: () => ({ leaf_id: '0190a6a8-0000-7000-8000-000000000000', with_sources: true }),
    // The message is unknown to the owner, too.
    ownerStatus: 404,
  },
  'POST /api/conversations/:id/shares leaf_id': {
    thing: 'message',
    path: 'conversation',
    body: (id) => ({ leaf_id: id, with_sources: true }),
  },
  'PUT /api/shares/:id id': { thing: 'share', body: () => ({ expires_at: null }) },
  'PUT /api/shares/:id leaf_id': {
    thing: 'message',
    path: 'share',
    body: (id) => ({ leaf_id: id }),
  },
  'DELETE /api/shares/:id id': { thing: 'share' },
  // Ends its shares, too.
  'DELETE /api/conversations/:id id': { thing: 'conversation' },
  'GET /api/conversations cursor': {
    thing: 'conversation',
    status: 200,
    query: (id) => `?cursor=${encodeCursor({ at: '2999-01-01T00:00:00.000Z', id })}`,
  },
  'GET /api/usage/calls request_id': {
    thing: 'call',
    status: 200,
    query: (id) => `?request_id=${id}`,
  },
  'GET /api/usage/calls/:id id': { thing: 'callRecord' },
  'GET /api/usage/calls key': { thing: 'key', status: 200, query: (id) => `?key=${id}` },
  'GET /api/usage/calls cursor': { thing: 'cursor', status: 422, query: (id) => `?cursor=${id}` },
  'PATCH /api/admin/users/:id id': {
    thing: 'user',
    status: 403,
    owner: 'root',
    body: () => ({ is_verified: true }),
  },
  'GET /api/admin/users/:id id': ADMIN_USER,
  'POST /api/admin/users/:id/plan/preview id': {
    ...ADMIN_USER,
    body: () => ({ price_id: 'unknown' }),
    ownerStatus: 400,
  },
  'POST /api/admin/users/:id/plan id': {
    ...ADMIN_USER,
    body: () => ({ price_id: 'unknown', proration_at: 0 }),
    ownerStatus: 409,
  },
  'POST /api/admin/users/:id/view id': { ...ADMIN_USER, body: () => ({ reason: 'A question' }) },
  'GET /api/admin/users/:id/events id': ADMIN_USER,
  'GET /api/admin/audit user_id': {
    thing: 'user',
    status: 403,
    owner: 'root',
    query: (id) => `?user_id=${id}`,
  },
  'GET /api/admin/emails user_id': {
    thing: 'user',
    status: 403,
    owner: 'root',
    query: (id) => `?user_id=${id}`,
  },
  'POST /api/admin/jobs/:id/retry id': { thing: 'job', status: 403, owner: 'root' },
  'DELETE /api/admin/jobs/:id id': { thing: 'otherJob', status: 403, owner: 'root' },
  'DELETE /api/admin/discounts/:id id': { thing: 'discount', status: 403, owner: 'root' },
  'POST /api/admin/contact-messages/:id/reply id': {
    ...ADMIN_MESSAGE,
    body: () => ({ message: 'Hello' }),
  },
  'POST /api/admin/contact-messages/:id/assign id': {
    ...ADMIN_MESSAGE,
    body: () => ({ user_id: null }),
  },
  'POST /api/admin/contact-messages/:id/close id': { ...ADMIN_MESSAGE, body: () => ({}) },
  'GET /api/checkout from': {
    thing: 'purchase',
    status: 409,
    query: (id) => `?tier=enterprise&from=${id}`,
  },
  'GET /api/checkout renew': { ...NOT_RENEWABLE, query: (id) => `?tier=pro&renew=${id}` },
  'POST /api/checkout from': {
    thing: 'purchase',
    status: 409,
    body: (id) => ({ tier: 'enterprise', from: id }),
  },
  'POST /api/checkout renew': { ...NOT_RENEWABLE, body: (id) => ({ tier: 'pro', renew: id }) },
  'GET /api/purchases/:id/invoice id': { thing: 'purchase' },
  'GET /api/admin/purchases/:id id': ADMIN_PURCHASE,
  'POST /api/admin/purchases/:id/resend id': ADMIN_PURCHASE,
  'POST /api/admin/purchases/:id/reset-downloads id': ADMIN_PURCHASE,
  'POST /api/admin/purchases/:id/activations id': { ...ADMIN_PURCHASE, body: () => ({ limit: 9 }) },
  'DELETE /api/admin/purchases/:id/activations/:activation_id id': {
    ...ADMIN_PURCHASE,
    second: 'activation',
    // The buyer has released it before.
    ownerStatus: 404,
  },
  'DELETE /api/admin/purchases/:id/activations/:activation_id activation_id': {
    ...ADMIN_PURCHASE,
    thing: 'activation',
    path: 'purchase',
    ownerStatus: 404,
  },
  'POST /api/admin/purchases/:id/extend id': {
    ...ADMIN_PURCHASE,
    body: () => ({ until: '2999-01-01T00:00:00.000Z' }),
  },
  'GET /api/download purchase_id': {
    thing: 'purchase',
    status: 403,
    query: (id) => `?purchase_id=${id}`,
  },
  // A purchase that does not exist has no downloads.
  'GET /api/download/history purchase_id': {
    thing: 'purchase',
    status: 200,
    query: (id) => `?purchase_id=${id}`,
  },
  'GET /api/purchases/:id/activations id': { thing: 'purchase' },
  'DELETE /api/purchases/:id/activations/:activation_id id': {
    thing: 'purchase',
    second: 'activation',
  },
  'DELETE /api/purchases/:id/activations/:activation_id activation_id': {
    thing: 'activation',
    path: 'purchase',
  },
  'POST /api/purchases/:id/rotate-key id': { thing: 'purchase' },
  'GET /api/purchases/:id/tokens id': { thing: 'purchase' },
  'POST /api/purchases/:id/tokens id': { thing: 'purchase', body: () => ({ name: 'hers' }) },
  'DELETE /api/purchases/:id/tokens/:token_id id': { thing: 'purchase', second: 'downloadToken' },
  'DELETE /api/purchases/:id/tokens/:token_id token_id': {
    thing: 'otherDownloadToken',
    path: 'purchase',
  },
  'GET /dashboard session_id': {
    thing: 'checkout',
    status: 200,
    query: (id) => `?success=true&session_id=${id}`,
  },
  // Names of eve's own: the same name may be ada's, who must not notice.
  'POST /api/rag/ingest/text external_id': {
    thing: 'externalId',
    status: 200,
    body: (id) => ({ content: 'Eve was here.', external_id: id }),
  },
  'POST /api/rag/ingest/file external_id': {
    thing: 'externalId',
    status: 200,
    body: (id) => formOf('eve.txt', { external_id: id }),
  },
  'POST /api/rag/ingest/text source': {
    thing: 'source',
    status: 200,
    query: () => '?replace=source',
    body: (id) => ({ content: 'Eve was here.', metadata: { source: id } }),
  },
  'POST /api/rag/ingest/file source': {
    thing: 'source',
    status: 200,
    query: () => '?replace=source',
    body: (id) => formOf(id, {}),
  },
  'POST /api/rag/search filter': {
    thing: 'document',
    status: 200,
    body: (id) => ({ query: 'What is a secret of hers?', filter: { document_id: id } }),
  },
  'POST /api/rag/query filter': {
    thing: 'externalId',
    status: 200,
    body: (id) => ({ question: 'What is a secret of hers?', filter: { external_id: id } }),
  },
}

/** They end ada's purchase, so they come after the others. */
const LAST = ['revoke', 'restore', 'refund']
for (const action of LAST) {
  ASKED_ONCE[`POST /api/admin/purchases/:id/${action} id`] = {
    ...ADMIN_PURCHASE,
    body: () => ({ reason: 'hers' }),
  }
}

const ASKED: Record<string, Asked> = {
  ...ASKED_ONCE,
  ...Object.fromEntries(
    Object.entries(ASKED_ONCE).flatMap(([field, asked]) =>
      isOfLibrary(field) ? [[toLibrary(field), asked]] : [],
    ),
  ),
  // The owner has deleted the first one by the other mount.
  'DELETE /api/library/documents/:document_id document_id': { thing: 'otherDocument' },
  'DELETE /api/library/collections/:id id': { thing: 'otherCollection' },
  // It ends ada's sessions, so it comes after the others.
  'POST /api/admin/users/:id/sign-out id': ADMIN_USER,
}

/** The library has the routes of documents a second time. */
function isOfLibrary(field: string): boolean {
  return field.includes(' /api/rag/') && !field.includes('/api/rag/query')
}

function toLibrary(field: string): string {
  return field.replace('/api/rag/', '/api/library/')
}

/** Well-formed ids that belong to no user. */
const NOBODYS: Record<string, string> = {
  'POST /api/admin/payments/:id/refund id': 'a payment at the processor, for superusers',
  'POST /api/admin/contact-messages/:id/assign user_id': 'only superusers name other superusers',
  'POST /api/withdrawals/:id/confirm id': 'drawn at random, and known to who began the withdrawal',
  'GET /api/auth/oauth/:provider provider': 'a provider',
  'GET /api/auth/callback/:provider provider': 'a provider',
  'POST /api/users/me/oauth/:provider provider':
    'a provider, to be linked to the account that asks',
  'GET /api/billing/invoices/:id/:document id': 'the token in the link signs it',
  'GET /api/billing/invoices/:id/:document document': 'the token in the link signs it',
  'POST /api/license/verify activation_id': 'of the license whose key is in the request',
  'POST /api/license/deactivate activation_id': 'of the license whose key is in the request',
  'GET /products/:slug slug': 'a product; its page is for everyone',
  'GET /products/:slug/changelog slug': 'a product; its page is for everyone',
  'GET /products/:slug/feed.json slug': 'a product; its feed is for everyone',
  'GET /products/:slug/feed.xml slug': 'a product; its feed is for everyone',
  'GET /docs/:name name': 'a page of the documentation for everyone',
  'GET /legal/:name name': 'a page of the operator for everyone',
  'GET /download/:slug/:file slug': 'a product; the bearer names the license',
  'GET /download/:slug/:file file': 'a release; the bearer names the license',
  'GET /api/updates/:slug slug': 'a product; the bearer names the license',
  'PUT /api/admin/products/:tier tier': 'a product of the shop, for superusers',
  'DELETE /api/admin/products/:tier tier': 'a product of the shop, for superusers',
  ...Object.fromEntries(
    [
      'GET /api/admin/products/:tier/releases tier',
      'POST /api/admin/products/:tier/releases tier',
      ...['tier', 'version'].flatMap((name) => [
        `PATCH /api/admin/products/:tier/releases/:version ${name}`,
        `DELETE /api/admin/products/:tier/releases/:version ${name}`,
        `POST /api/admin/products/:tier/releases/:version/publish ${name}`,
        `POST /api/admin/products/:tier/releases/:version/withdraw ${name}`,
      ]),
    ].map((field) => [field, 'a release of the shop, for superusers']),
  ),
  'GET /v1/models/:model model': 'a model',
  'GET /v1/models after_id': 'a model',
  'GET /v1/models before_id': 'a model',
  'POST /api/billing/create-checkout-session price_id': 'of the catalogue',
  'POST /api/billing/change/preview price_id': 'of the catalogue',
  'POST /api/billing/change price_id': 'of the catalogue',
  'POST /api/admin/users/:id/plan/preview price_id': 'of the catalogue',
  'POST /api/admin/users/:id/plan price_id': 'of the catalogue',
  'POST /api/conversations collection_ids':
    'a mark on the conversation; only the owner searches it',
  'PATCH /api/conversations/:id collection_ids':
    'a mark on the conversation; only the owner searches it',
  'GET /api/shared/:token token': 'the token in the link signs it',
  'POST /api/shared/:token/copy token': 'the token in the link signs it',
  'POST /v1/chat/completions id': 'the caller’s own words to a model',
  'POST /v1/chat/completions tool_call_id': 'the caller’s own words to a model',
  'POST /api/auth/passkeys/register/verify id': 'a device says it, and signs for it',
  'POST /api/auth/passkeys/register/verify rawId': 'a device says it, and signs for it',
  'POST /api/auth/passkeys/login/verify id': 'a device says it, and signs for it',
  'POST /api/auth/passkeys/login/verify rawId': 'a device says it, and signs for it',
}

/** Fields that are ids without being called so, or that no schema tells. */
const UNTOLD_ONCE = [
  'GET /api/checkout from',
  'GET /api/checkout renew',
  'POST /api/checkout from',
  'POST /api/checkout renew',
  'GET /dashboard session_id',
  'GET /api/usage/calls key',
  'GET /api/usage/calls cursor',
  'GET /api/rag/documents source',
  'GET /api/rag/documents collection',
  'POST /api/rag/search collections',
  'POST /api/rag/query collections',
  'POST /api/rag/ingest/text collections',
  'POST /api/rag/ingest/file collections',
  'DELETE /api/rag/documents source',
  'POST /api/rag/ingest/text source',
  'POST /api/rag/ingest/file source',
  'POST /api/rag/search filter',
  'POST /api/rag/query filter',
  'GET /api/conversations cursor',
  'GET /api/conversations/:id before',
  'POST /api/conversations/:id/messages replaces',
]
const UNTOLD = [...UNTOLD_ONCE, ...UNTOLD_ONCE.filter(isOfLibrary).map(toLibrary)]

test('every route treats an id of another user as unknown', async (t) => {
  const mounted = collectRoutes(t)
  const { app, things, eve, owner } = await openWithThings(t)
  const taken = [...mounted().flatMap(fieldsOf), ...UNTOLD]
  assert.ok(taken.length > 20, `${taken.length} fields`)

  const unknown = taken.filter((field) => !(field in ASKED) && !(field in NOBODYS))
  assert.deepEqual(
    unknown,
    [],
    'say in ASKED whose these ids are, or in NOBODYS why they are nobody’s',
  )
  const gone = [...Object.keys(ASKED), ...Object.keys(NOBODYS)].filter(
    (field) => !taken.includes(field),
  )
  assert.deepEqual(gone, [], 'no route takes these any more')

  // Routes that delete ada's data come last, and first of those the ones that need both of two things.
  const asked = Object.entries(ASKED).toSorted(([a], [b]) => rankByDeletion(a) - rankByDeletion(b))
  // While eve has stored nothing under the names herself.
  const byEve = asked.toSorted(([a], [b]) => rankBeforeNames(a) - rankBeforeNames(b))
  for (const [field, { thing, status = 404 }] of byEve) {
    await t.test(`${field}, of a ${thing}`, async () => {
      const before = await held(app, things)
      const hers = await send(app, field, things[thing], eve, things)
      const nobodys = await send(app, field, idOfNobody(thing), eve, things)

      assert.equal(hers.status, status, hers.text)
      assert.deepEqual(
        saidOf(hers, things[thing]),
        saidOf(nobodys, idOfNobody(thing)),
        'no difference to learn from',
      )
      assert.deepEqual(await held(app, things), before, 'hers is as it was')
    })
  }
  // Without this, a thing that never was would prove nothing.
  // A superuser's refund removes the activations.
  const bySuperuserLast = asked.toSorted(
    ([, a], [, b]) => Number(a.owner === 'root') - Number(b.owner === 'root'),
  )
  const readEverything = () => readAll(app, mounted(), things, owner.ada)
  const alone = await readEverything()
  const readTwin = await createTwin(app, things.user)
  const untouched = await readTwin()
  await t.test('a user reads nothing of another with the same ids', async () => {
    assert.deepEqual(await readEverything(), alone)
  })
  for (const [field, { thing, owner: name = 'ada', ownerStatus }] of bySuperuserLast) {
    const reply = await send(app, field, things[thing], owner[name], things)
    const expected = ownerStatus === undefined ? [200, 201, 204, 302] : [ownerStatus]
    assert.ok(expected.includes(reply.status), `${field}, asked by its owner: ${reply.text}`)
    // A superuser names a purchase without its owner.
    if (name === 'ada')
      await t.test(`${field}, beside a user with the same ids`, async () => {
        assert.deepEqual(await readTwin(), untouched)
      })
  }
})

/** Reads every address without an id as ada, and those with an id of hers. */
async function readAll(
  app: TestApp,
  routes: Route[],
  things: Things,
  ada: { api: Headers; storefront: Headers; own: Own },
) {
  const replies: Record<string, unknown> = {}
  for (const { url, method } of routes) {
    if (method !== 'GET' || url.includes(':') || !url.startsWith('/api/')) continue
    // Sorted by the last use, which a call writes seconds later.
    if (url === '/api/users/me/sessions') continue
    const headers = isOfStorefront(url) ? ada.storefront : ada.api
    const reply = await call(addressOf(app, url), 'GET', url, { headers })
    replies[url] = saidOf(reply, things.user)
  }
  for (const [field, { thing }] of Object.entries(ASKED)) {
    if (!field.startsWith('GET /api/') || field.startsWith('GET /api/download')) continue
    replies[field] = saidOf(await send(app, field, things[thing], ada, things), things[thing])
  }
  return replies
}

function rankByDeletion(field: string): number {
  if (!field.startsWith('DELETE')) return 0
  return field.includes('/collections/:id/documents/') ? 1 : 2
}

function rankBeforeNames(field: string): number {
  if (/^DELETE \/api\/(rag|library)\/documents /.test(field)) return 0
  return field.startsWith('GET ') ? 1 : 2
}

type Route = {
  method: string | string[]
  url: string
  schema?: Partial<Record<'querystring' | 'body', Schema>>
}
type Schema = {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
}

/** From now on the routes of every server that is made; the sandbox's are the world outside. */
function collectRoutes(t: TestContext): () => Route[] {
  const routes: Route[] = []
  const onServer = (message: unknown) => {
    const { fastify } = message as {
      fastify: { addHook(name: 'onRoute', hook: (route: Route) => void): void }
    }
    fastify.addHook('onRoute', (route) => void routes.push(route))
  }
  subscribe('fastify.initialization', onServer)
  t.after(() => unsubscribe('fastify.initialization', onServer))
  return () => routes.filter(({ url }) => !url.startsWith('/sandbox'))
}

/** `POST /api/keys/:id/rotate id` for each id that the route takes. */
function fieldsOf({ method, url, schema = {} }: Route): string[] {
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const names = [...namesIn(schema.querystring), ...namesIn(schema.body)].filter((name) =>
    /^(id|\w+_ids?|\w*Ids?)$/.test(name),
  )
  // HEAD is answered as GET is, and OPTIONS without a look at the id.
  const methods = [method].flat().filter((one) => one !== 'HEAD' && one !== 'OPTIONS')
  return methods.flatMap((one) =>
    [...new Set([...inPath, ...names])].map((name) => `${one} ${url} ${name}`),
  )
}

function namesIn(schema: Schema | undefined): string[] {
  if (!schema) return []
  const parts = [
    schema.items,
    ...(schema.anyOf ?? []),
    ...(schema.allOf ?? []),
    ...Object.values(schema.properties ?? {}),
  ]
  return [...Object.keys(schema.properties ?? {}), ...parts.flatMap(namesIn)]
}

type Headers = Record<string, string>

function send(
  app: TestApp,
  field: string,
  id: string,
  headers: { api: Headers; storefront: Headers; own?: Own },
  things: Things,
): Promise<Reply> {
  const { query, body, path: own, second } = ASKED[field] as Asked
  const [method = '', path = '', name = ''] = field.split(' ')
  const readId = (parameter: string) => {
    if (parameter === name) return id
    if (parameter === 'messageId') return headers.own?.answer
    return own ? headers.own?.[own] : second && things[second]
  }
  return call(
    addressOf(app, path),
    method,
    path.replace(/:(\w+)/g, (_, parameter) => encodeURIComponent(readId(parameter) ?? id)) +
      (query?.(id) ?? ''),
    {
      headers: isOfStorefront(path) ? headers.storefront : headers.api,
      ...(body && { body: body(id) }),
    },
  )
}

function isOfStorefront(path: string): boolean {
  return /^\/(api\/(download|purchases|checkout)|dashboard)/.test(path)
}

function addressOf(app: TestApp, path: string): string {
  return isOfStorefront(path) ? app.storefrontUrl : app.url
}

function formOf(name: string, fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append('file', new Blob(['Eve was here.']), name)
  return form
}

/** @returns the ids of the question and of its answer */
async function askQuestion(
  client: Client,
  conversation: string,
  question: string,
): Promise<[question: string, answer: string]> {
  const path = `/api/conversations/${conversation}`
  const parts = [{ type: 'text', text: question }]
  const asked = await client.post(`${path}/messages`, { parts, documents: 'off' })
  assert.equal(asked.status, 200, asked.text)
  const { messages } = (await client.get(path)).body
  return messages.map(({ id }: { id: string }) => id)
}

/** As long and as well formed as ada's id, so that only the owner differs. */
function idOfNobody(thing: keyof Things): string {
  if (thing === 'link') return 'github'
  if (thing === 'checkout') return `cs_test_${'0'.repeat(32)}`
  if (thing === 'document' || thing === 'otherDocument') return '000000000000_0'
  if (thing === 'externalId' || thing === 'source') return 'nobodys.txt'
  return '0190a6a8-0000-7000-8000-000000000000'
}

/** The reply without the requested id and without values that change in each reply. */
function saidOf({ status, text }: Reply, id: string) {
  const alike = (text.startsWith('id: ') ? joinStream(text) : text)
    .replaceAll(id, 'ID')
    .replace(/\b[0-9a-f]{12}_\d+\b/g, 'DOCUMENT')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"(latency_ms|took_ms|search_time_ms|duration_ms)":[\d.]+/g, '$1')
  return { status, alike }
}

/** Where the text of a stream is split depends on time, and each answer has a new id. */
function joinStream(text: string): string {
  const events = readEvents(text)
  const others = events.filter(({ name }) => name !== null && name !== 'message')
  return JSON.stringify([joinTokens(events), others.map(({ name, data }) => ({ name, data }))])
}

/** Every row that has to do with ada, in every table. */
async function held(
  { platform: { db } }: TestApp,
  { user, job }: Things,
): Promise<Record<string, string[]>> {
  const jobs = await db.selectFrom('jobs').selectAll().where('id', '=', job).execute()
  const tables = { ...(await readUserRows(db, user)), jobs }
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.map((row) => JSON.stringify(row, legible)).sort(),
    ]),
  )
}

function legible(column: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return createHash('sha256').update(value).digest('hex')
  // Written a moment after ada herself has called.
  return column === 'last_used_at' ? undefined : value
}

/** The built-in products cannot be renewed. */
function writeRenewable(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-ownership-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const products = ['basic', 'pro', 'enterprise'].map((tier, index) => ({
    tier,
    name: tier,
    currency: 'usd',
    price: 100 * (index + 1),
    renewal_price: 50,
    upgrade_from: tier === 'enterprise' ? { pro: 'difference' } : {},
  }))
  writeFileSync(join(folder, 'catalogue.json'), JSON.stringify({ products }))
  return join(folder, 'catalogue.json')
}

async function openWithThings(t: TestContext) {
  const shop = await openShop(t, { CATALOGUE: writeRenewable(t) })
  const { app } = shop
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const root = await app.as('root', { superuser: true })
  const [adaBuys, eveBuys] = [await shop.buyer('ada'), await shop.buyer('eve')]

  await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const session = (await ada.get('/api/users/me/sessions')).body.find(
    (one: { current: boolean }) => !one.current,
  )

  const { options } = (await ada.post('/api/auth/passkeys/register/options')).body
  const { origin, hostname } = new URL(app.config.urls.frontend)
  const { response } = createCredential(options, { origin, rpId: hostname })
  await ada.post('/api/auth/passkeys/register/verify', { response, name: 'Laptop' })
  const [passkey] = (await ada.get('/api/auth/passkeys')).body

  await throughProvider(app, 'google', { email: ada.email }, ada)
  const [link] = (await ada.get('/api/users/me/oauth')).body.linked ?? []

  const key = (await ada.post('/api/api-keys', { name: 'laptop' })).body
  const content = 'A secret of hers is that Duroc is a pig.'
  const upload = new FormData()
  upload.append('file', new Blob([content]), 'hers.txt')
  const document = (await ada.post('/api/rag/ingest/file', upload)).body
  const other = new FormData()
  other.append('file', new Blob([`${content} Or a cow.`]), 'other.txt')
  const otherDocument = (await ada.post('/api/library/ingest/file', other)).body
  await ada.post('/api/rag/ingest/text', {
    content: `${content} So it says.`,
    external_id: 'diary',
  })
  await ada.post('/api/rag/ingest/text', {
    content: `${content} Or was.`,
    metadata: { source: 'diary.txt' },
  })

  const later = { content: `${content} Or will be.` }
  const ingestJob = (
    await ada.post('/api/rag/ingest/text', later, { headers: { prefer: 'respond-async' } })
  ).body

  await shop.buy(adaBuys, 'pro')
  await shop.sell(eveBuys, 'pro')
  const [purchase] = (await adaBuys.get('/api/purchases')).body
  const [evesPurchase] = (await eveBuys.get('/api/purchases')).body
  const licenseKey = (await adaBuys.download()).headers.get('x-license-key')
  const activated = await app.store('POST', '/api/license/activate', {
    body: { license_key: licenseKey, fingerprint: 'laptop of ada' },
  })
  app.clock.advance(61_000)
  const createToken = async (name: string): Promise<string> => {
    const path = `/api/purchases/${purchase.id}/tokens`
    return (await adaBuys.request('POST', path, { body: { name } })).body.id
  }
  const checkout = await adaBuys.get('/api/checkout?tier=basic')
  const payUrl = new URL(checkout.headers.get('location') ?? '')

  app.platform.jobs.handle('test.hopeless', () => Promise.reject(new Error('no')), { delaysMs: [] })
  for (let count = 0; count < 2; count++)
    await app.platform.jobs.enqueue(app.platform.db, 'test.hopeless', {})
  await app.settle()
  const [job, otherJob] = (await root.get('/api/admin/jobs')).body.dead.filter(
    (one: { kind: string }) => one.kind === 'test.hopeless',
  )

  const conversation = (await ada.post('/api/conversations', { title: 'Pigs' })).body.id
  const [message, answer] = await askQuestion(ada, conversation, content)
  const eves = (await eve.post('/api/conversations', { title: 'Cows' })).body.id
  const [evesQuestion, evesAnswer] = await askQuestion(eve, eves, 'Who keeps cows?')
  const share = await shareQuestion(ada, conversation, message)
  const evesShare = await shareQuestion(eve, eves, evesQuestion)

  const createCollection = async (client: typeof ada, title: string) =>
    (await client.post('/api/rag/collections', { name: title })).body.id as string
  const evesDocument = await eve.post('/api/rag/ingest/text', { content: 'A cow is a cow.' })

  await shop.store('POST', '/api/contact', {
    body: { name: 'Ada', email: ada.email, subject: 'sales', message: 'Hello' },
  })
  const contact = (await root.get('/api/admin/contact-messages')).body.messages[0].id

  const discount = (await root.post('/api/admin/discounts', { code: 'FIVE', percent_off: 5 })).body
  const { calls, next_cursor: cursor } = (await ada.get('/api/usage/calls?limit=1')).body

  const things: Things = {
    session: session.id,
    passkey: passkey.id,
    link: link ?? 'google',
    key: key.id,
    document: document.document_ids[0],
    otherDocument: otherDocument.document_ids[0],
    collection: await createCollection(ada, 'Pigs'),
    otherCollection: await createCollection(ada, 'Boars'),
    ingestJob: ingestJob.job_id,
    externalId: 'diary',
    source: 'diary.txt',
    user: ada.userId,
    job: job.id,
    otherJob: otherJob.id,
    purchase: purchase.id,
    activation: activated.body.activation_id,
    downloadToken: await createToken('one'),
    otherDownloadToken: await createToken('two'),
    checkout: payUrl.pathname.split('/').at(-1) ?? '',
    call: calls[0].request_id,
    callRecord: calls[0].id,
    cursor,
    conversation,
    message,
    contact,
    discount: discount.id,
    answer,
    share,
  }
  const bearer = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` })
  return {
    app,
    things,
    eve: {
      api: bearer(eve),
      storefront: { cookie: eveBuys.cookie },
      own: {
        conversation: eves,
        answer: evesAnswer,
        share: evesShare,
        collection: await createCollection(eve, 'Cows'),
        document: evesDocument.body.document_ids[0],
        purchase: evesPurchase.id,
      },
    },
    owner: {
      ada: {
        api: bearer(createClient(app.url, ada.token, ada)),
        storefront: { cookie: adaBuys.cookie },
        own: {
          conversation,
          answer,
          share,
          collection: await createCollection(ada, 'Sows'),
          document: document.document_ids[0],
          purchase: purchase.id,
        },
      },
      root: { api: bearer(root), storefront: {} },
    },
  }
}

async function shareQuestion(client: Client, conversation: string, id: string): Promise<string> {
  const body = { leaf_id: id, with_sources: true }
  return (await client.post(`/api/conversations/${conversation}/shares`, body)).body.id
}
