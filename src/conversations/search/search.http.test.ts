import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'
import { converse, createConversation, say } from '#testing/conversations.ts'
import { insertConversation } from '../conversation-store.ts'
import { insertMessages } from '../message-store.ts'
import { ConversationIndexes } from './conversation-index.ts'
import { searchConversations } from './search.ts'

type Listed = {
  id: string
  matches: { message_id: string | null; text: string; marks: number[][] }[]
}

async function search(client: Client, q: string, more = ''): Promise<Listed[]> {
  const reply = await client.get(`/api/conversations?q=${encodeURIComponent(q)}${more}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.conversations
}

const marked = ({ text, marks }: Listed['matches'][number]) =>
  marks.map(([start, end]) => text.slice(start, end))

test('a search finds titles, questions and answers, with their lines marked', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const coast = await createConversation(ada, { title: 'Lighthouses of the coast' })
  const { questionId } = await converse(
    app,
    ada,
    coast,
    null,
    'Who built the tower?\nIt is old.',
    'Amélie Duroc did.',
  )
  const garden = await createConversation(ada, { title: 'Garden' })
  await converse(app, ada, garden, null, 'When do roses bloom?', 'In June, by the coast later.')
  await converse(
    app,
    eve,
    await createConversation(eve, { title: 'Tower of eve' }),
    null,
    'the tower',
  )

  const [found, ...others] = await search(ada, 'tower bui')
  assert.equal(found?.id, coast)
  assert.deepEqual(others, [])
  assert.deepEqual(found?.matches[0]?.message_id, questionId)
  assert.equal(found?.matches[0]?.text, 'Who built the tower?')
  assert.deepEqual(found?.matches.map(marked)[0], ['built', 'tower'])

  assert.deepEqual(
    (await search(ada, 'coast')).map(({ id }) => id),
    [coast, garden],
    'titles weigh more',
  )
  assert.deepEqual(
    marked((await search(ada, 'amelie'))[0]?.matches[0] as never),
    ['Amélie'],
    'without accents',
  )
  assert.deepEqual((await search(ada, 'rose'))[0]?.id, garden)
  assert.deepEqual(await search(ada, 'tower roses'), [], 'every word must occur')
  assert.deepEqual(await search(ada, 'of eve'), [], "another user's texts are not found")
  assert.deepEqual(await search(ada, '…'), [])

  await ada.patch(`/api/conversations/${coast}`, { is_archived: true, title: 'Sea marks' })
  assert.deepEqual(await search(ada, 'lighthouses'), [], 'the former title is gone')
  assert.deepEqual(await search(ada, 'tower'), [])
  assert.equal((await search(ada, 'tower', '&archived=true'))[0]?.id, coast)
  await ada.delete(`/api/conversations/${coast}`)
  assert.deepEqual(await search(ada, 'tower', '&archived=true'), [])
})

test('scripts without spaces are found and marked', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada, { title: '灯塔' })
  await converse(app, ada, id, null, '谁建造了圣马洛的灯塔？', '阿梅莉·迪罗克')
  const [found] = await search(ada, '圣马洛')
  assert.equal(found?.id, id)
  assert.deepEqual(marked(found?.matches[0] as never), ['圣马洛'])
})

test('2,000 conversations are searched, page by page, and each node sees the changes of others', async (t) => {
  const app = await testApp(t)
  const { platform } = app
  const ada = await app.as('ada', { tier: 'pro' })
  const count = 2_000
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString()
  await platform.db.transaction().execute(async (tx) => {
    for (let index = 0; index < count; index++) {
      const id = crypto.randomUUID()
      const [questionId, answerId] = [crypto.randomUUID(), crypto.randomUUID()]
      await insertConversation(tx, platform, ada.userId, {
        id,
        title: `Talk ${index}`,
        title_by: 'model',
        model: null,
        settings: {},
        collection_ids: [],
        pinned_at: null,
        archived_at: null,
        leaf_id: answerId,
        revision: 1,
        created_at: at(index),
        updated_at: at(index),
      })
      const row = { outcome: 'ok' as const, model: null, usage: null, created_at: at(index) }
      await insertMessages(tx, platform, { userId: ada.userId, conversationId: id }, [
        {
          ...row,
          ...say(`Question number${index}`),
          id: questionId,
          parent_id: null,
          role: 'user',
        },
        {
          ...row,
          ...say(index % 100 === 7 ? 'It mentions the zephyr wind.' : 'It mentions nothing.'),
          id: answerId,
          parent_id: questionId,
          role: 'assistant',
        },
      ])
    }
  })
  const node = () => ({ ...platform, indexes: new ConversationIndexes(platform) })
  const [one, two] = [node(), node()]
  const find = (on: typeof one, q: string, cursor?: string) =>
    searchConversations(on, ada.userId, { q, isArchived: false, ...(cursor && { cursor }) })
  // The rows were written without a change of the user's revision.
  const extra = await createConversation(ada, { title: 'Zephyr' })

  const first = await find(one, 'zeph')
  assert.equal(first.conversations[0]?.id, extra)
  assert.equal(first.conversations.length, 20)
  const second = await find(one, 'zeph', first.next_cursor ?? '')
  assert.equal(second.conversations.length, 1)
  assert.equal(second.next_cursor, null)
  const { conversations } = await find(one, 'number1234')
  assert.deepEqual(
    conversations.map(({ title }) => title),
    ['Talk 1234'],
  )

  assert.equal((await find(two, 'zeph')).conversations[0]?.id, extra)
  await ada.patch(`/api/conversations/${extra}`, { title: 'Breeze' })
  for (const on of [one, two]) {
    assert.notEqual((await find(on, 'zeph')).conversations[0]?.id, extra)
    assert.equal((await find(on, 'breez')).conversations[0]?.id, extra)
  }
  await ada.delete('/api/conversations', { confirm: true })
  for (const on of [one, two]) assert.deepEqual((await find(on, 'zeph')).conversations, [])
  await app.settle()
  const left = await platform.db.selectFrom('conversation_messages').select('id').execute()
  assert.deepEqual(left, [], 'the job has deleted the messages')
})

test('the memory for indexes is bounded; an index that was dropped is built again', async (t) => {
  const app = await testApp(t)
  const indexes = new ConversationIndexes(app.platform, { bytesMax: 1 })
  const people = [
    await app.as('ada', { tier: 'pro' }),
    await app.as('eve', { tier: 'pro' }),
    await app.as('zoe', { tier: 'pro' }),
  ]
  for (const person of people) await createConversation(person, { title: 'Lamps' })
  for (const { userId } of [...people, ...people]) {
    const on = { ...app.platform, indexes }
    const { conversations } = await searchConversations(on, userId, { q: 'lam', isArchived: false })
    assert.equal(conversations.length, 1)
    // Each counts as half.
    assert.ok(indexes.users().length <= 2)
    assert.equal(indexes.users().at(-1), userId)
  }
})
