// A user with conversations, a twin with the same ids, and a stranger without conversations. The user's
// changes leave the twin's rows alone, and the stranger reads and changes no row of either.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { begin, converse, createConversation } from '#testing/conversations.ts'
import { createTwin } from '#testing/twin.ts'
import {
  readConversations,
  readUserSettings,
  tryLockConversation,
  writeKeeping,
} from './conversation-store.ts'
import { deleteConversation } from './deletion.ts'
import { listEndedNodes, readGroup } from './message-groups.ts'
import { listNodes, listRunning, updateRunning } from './message-store.ts'
import { listIndexed } from './search/index-store.ts'
import { endShare, listShares } from './shares/shares.ts'
import { collectConversations } from './transfer/export.ts'
import { requireStorage } from './transfer/import.ts'

test('conversations, messages and links belong to one user, even where another has the same ids', async (t) => {
  const app = await testApp(t)
  const { platform } = app
  const { db } = platform
  const shareDeps = { ...platform, callerNow: app.service.rag.deps.callerNow }
  const ada = await app.as('ada', { tier: 'pro' })
  const { userId: bob } = await app.as('bob', { tier: 'pro' })
  const id = await createConversation(ada, { title: 'Lamps' })
  const { questionId, answerId } = await converse(app, ada, id, null, 'How many lamps?')
  const answered = await createConversation(ada, { title: 'Boats' })
  const running = await begin(app, ada.userId, answered, { question: 'How many boats?' })
  const body = { leaf_id: answerId, with_sources: true }
  const share = (await ada.post(`/api/conversations/${id}/shares`, body)).body
  await writeKeeping(db, ada.userId, false)

  const read = async (userId: string) => ({
    conversations: await readConversations(platform, userId, [id]),
    isLockable: await tryLockConversation(db, userId, id),
    settings: await readUserSettings(db, userId),
    nodes: await listNodes(db, { userId, conversationId: id }),
    ended: await listEndedNodes(db, userId, [id]),
    messages: await readGroup(platform, userId, [
      { conversation_id: id, id: questionId, bytes: 1 },
    ]),
    running: await listRunning(db, userId),
    indexed: await listIndexed(platform, userId, 0),
    shares: await listShares(shareDeps, userId),
    collected: JSON.stringify(await collectConversations(platform, db, userId)),
  })
  const alone = await read(ada.userId)
  const empty = {
    conversations: new Map(),
    isLockable: false,
    settings: { is_keeping: true, revision: 0 },
    nodes: [],
    ended: [],
    messages: [],
    running: new Set(),
    indexed: { ids: [], changed: [] },
    shares: [],
    collected: JSON.stringify({
      conversations: [],
      conversation_settings: { keeps_conversations: true },
      conversation_links: [],
    }),
  }
  assert.deepEqual(await read(bob), empty)
  const readTwin = await createTwin(app, ada.userId)
  await db
    .updateTable('conversation_shares')
    .set({ expires_at: '2000-01-01T00:00:00.000Z' })
    .where('user_id', '<>', ada.userId)
    .execute()
  const untouched = await readTwin()
  assert.deepEqual(await read(ada.userId), alone)
  assert.equal((await app.get(`/api/shared/${share.token}`)).status, 200, 'only the twin’s ended')

  const target = { conversationId: answered, id: running.answerId }
  const ends = { outcome: 'stopped' as const }
  assert.equal(await updateRunning(db, platform, { userId: bob, ...target }, ends), false)
  assert.deepEqual(await listRunning(db, ada.userId), new Set([answered]))
  assert.equal(await updateRunning(db, platform, { userId: ada.userId, ...target }, ends), true)
  assert.equal((await ada.patch(`/api/conversations/${id}`, { title: 'Lanterns' })).status, 200)
  assert.equal((await ada.request('PUT', `/api/shares/${share.id}`, { body: {} })).status, 200)
  await endShare(platform, { userId: ada.userId, id: share.id })
  await deleteConversation(platform, ada.userId, id)
  assert.deepEqual(await readTwin(), untouched)
})

test('the deletion of all conversations leaves those of a user with the same ids, and messages that wait', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  await converse(app, ada, id, null, 'How many lamps?')
  const readTwin = await createTwin(app, ada.userId)
  // The messages of the twin wait to be deleted.
  const { db } = app.platform
  await db.deleteFrom('conversations').where('user_id', '!=', ada.userId).execute()
  const untouched = await readTwin()

  assert.equal((await ada.delete('/api/conversations', { confirm: true })).status, 204)
  await app.settle()
  assert.deepEqual(await listNodes(db, { userId: ada.userId, conversationId: id }), [])
  assert.deepEqual(await readTwin(), untouched)
})

test('the limits of pins, links and stored texts count what the user has', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const ada = await app.as('ada', { tier: 'pro' })
  const bob = await app.as('bob', { tier: 'pro' })
  const id = await createConversation(ada)
  const { answerId } = await converse(app, ada, id, null, 'How many lamps?')
  const row = await db.selectFrom('conversations').selectAll().executeTakeFirstOrThrow()
  const now = clock.now()
  const pins = Array.from({ length: 100 }, (_, at) => ({ ...row, id: `pin ${at}`, pinned_at: now }))
  const links = Array.from({ length: 500 }, (_, at) => ({
    user_id: ada.userId,
    id: `link ${at}`,
    conversation_id: id,
    leaf_id: answerId,
    is_citing: true,
    expires_at: null,
    created_at: now,
    updated_at: now,
    content_sealed: Buffer.alloc(1),
  }))
  await db.insertInto('conversations').values(pins).execute()
  await db.insertInto('conversation_shares').values(links).execute()

  const own = await createConversation(bob)
  const asked = await converse(app, bob, own, null, 'How many boats?')
  assert.equal((await bob.patch(`/api/conversations/${own}`, { is_pinned: true })).status, 200)
  const body = { leaf_id: asked.answerId, with_sources: true }
  assert.equal((await bob.post(`/api/conversations/${own}/shares`, body)).status, 201)
  const { userId: eve } = await app.as('eve', { tier: 'pro' })
  const all = 500 * 1024 * 1024
  await requireStorage(db, eve, all)
  await assert.rejects(requireStorage(db, eve, all + 1), { code: 'conversation_storage_full' })
})
