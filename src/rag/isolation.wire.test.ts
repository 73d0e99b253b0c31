// Two users with the same texts and ids store, replace, delete, search and ask in random turns. No
// reply of one contains data of the other, and each gets the results that they would get alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'

const TURNS = 40
const NAMES = ['a', 'b', 'c', 'd']
const TEXTS = [
  'The lighthouse of Porto Calvo was built in 1882 by Amelie Duroc.',
  'The harbour pays six euros for each crane that works on Sundays.',
  'Bread rises because yeast turns sugar into carbon dioxide.',
  'The ferry to the island leaves at noon and takes bicycles.',
  'Parental leave lasts sixteen weeks and is paid in full.',
]
const QUESTIONS = [
  'Who built the lighthouse?',
  'What does the harbour pay for a crane?',
  'Why does bread rise?',
  'MARK',
]

type User = { client: Client; mark: string; other: string; kept: Map<string, string> }
type Random = (below: number) => number

test('two users with the same texts and ids never see each other’s data, for any order of calls', async (t) => {
  const app = await testApp(t)
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`SEED=${seed} repeats it`)
  const marks = ['zebrafinch', 'quokkatail'] as const
  const users = await Promise.all(
    marks.map(async (mark, i): Promise<User> => {
      const client = await app.as(mark, { tier: 'pro' })
      return { client, mark, other: marks[1 - i] as string, kept: new Map() }
    }),
  )

  await Promise.all(users.map((user, i) => play(user, randomOf(seed + i))))

  for (const { client, mark, kept } of users) {
    const listed = (await client.get('/api/rag/documents')).body as {
      external_ids: string[]
      id: string
    }[]
    const texts = new Map<string, string>()
    for (const { id, external_ids } of listed) {
      const { text } = (await client.get(`/api/rag/documents/${id}/text`)).body
      for (const name of external_ids) texts.set(name, text)
    }
    assert.deepEqual([...texts].sort(), [...kept].sort(), `${mark}, seed ${seed}`)
  }
})

async function play(user: User, random: Random): Promise<void> {
  const { client, mark, kept } = user
  for (let turn = 0; turn < TURNS; turn++) {
    const name = NAMES[random(NAMES.length)] as string
    const question = (QUESTIONS[random(QUESTIONS.length)] as string).replace('MARK', mark)
    const turns = random(10)
    if (turns < 4) {
      // Mostly texts that both users have; sometimes texts that only this user may read.
      const text =
        random(4) === 0
          ? `The secret of ${mark} is number ${random(9)}.`
          : (TEXTS[random(5)] as string)
      const metadata = { source: `${mark}.txt`, owner: mark }
      checked(
        user,
        await client.post('/api/rag/ingest/text', { content: text, external_id: name, metadata }),
      )
      kept.set(name, text)
    } else if (turns === 4) {
      const listed = checked(user, await client.get('/api/rag/documents')).body as {
        id: string
        external_ids: string[]
      }[]
      const one = listed.find(({ external_ids }) => external_ids.includes(name))
      assert.equal(one !== undefined, kept.has(name))
      if (one === undefined) continue
      checked(user, await client.delete(`/api/rag/documents/${one.id}`))
      for (const gone of one.external_ids) kept.delete(gone)
    } else if (turns < 8) {
      const { results } = checked(
        user,
        await client.post('/api/rag/search', { query: question, top_k: 50 }),
      ).body
      const texts = new Set(kept.values())
      for (const { content, metadata } of results) {
        assert.ok(texts.has(content), `${mark} finds what is not kept: ${content}`)
        assert.equal(metadata.owner, mark)
      }
    } else {
      const { sources } = checked(user, await client.post('/api/rag/query', { question })).body
      for (const { metadata } of sources) assert.equal(metadata.owner, mark)
    }
  }
}

function checked(user: User, reply: Awaited<ReturnType<Client['get']>>) {
  assert.ok(reply.status < 300, reply.text)
  assert.ok(!reply.text.includes(user.other), `${user.mark} reads: ${reply.text}`)
  return reply
}

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) % below
  }
}
