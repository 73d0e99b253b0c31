// The instructions of collections, as the model gets them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'

test('answers from collections follow their instructions, over the API, MCP and a conversation', async (t) => {
  const vendor = await mockVendor(t)
  const env = { ...vendor.env.anthropic, LLM_VENDORS: 'anthropic/claude-haiku-5-5' }
  const app = await testApp(t, { env: { ...env, EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const create = async (name: string, instructions: string | null) =>
    (await ada.post('/api/rag/collections', { name, instructions })).body.id
  const leases = await create('Leases', 'Answer as a lawyer.')
  const letters = await create('Letters', null)
  const content = 'The deposit of the flat is three months of rent.'
  await ada.post('/api/rag/ingest/text', { content, collections: [leases, letters] })
  const question = 'How much is the deposit?'
  const readSystem = () => {
    // `play` forgets the calls before.
    assert.equal(vendor.calls.length, 1)
    return JSON.stringify(vendor.calls[0]?.body.system)
  }

  for (const stream of [false, true]) {
    vendor.play(says('Three months of rent [1].'))
    await ada.post('/api/rag/query', { question, stream, collections: [letters, leases] })
    assert.match(readSystem(), /You answer questions from numbered sources.*Answer as a lawyer\./)
  }
  vendor.play(says('Three months of rent [1].'))
  const params = { name: 'ask', arguments: { question, collections: [leases] } }
  await ada.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  assert.match(readSystem(), /Answer as a lawyer\./)

  const { id } = (await ada.post('/api/conversations', { title: 'Flat' })).body
  vendor.play(says('Three months of rent.'))
  const parts = [{ type: 'text', text: question }]
  await ada.post(`/api/conversations/${id}/messages`, { parts, collections: [leases] })
  assert.match(readSystem(), /Answer as a lawyer\./)

  const brief = await create('Brief', 'Be brief.')
  vendor.play(says('Three months of rent [1].'))
  await ada.post(`/api/conversations/${id}/messages`, { parts, collections: [leases, brief] })
  assert.match(readSystem(), /Be brief\.\\n\\nAnswer as a lawyer\./)

  for (const collections of [undefined, [letters]]) {
    vendor.play(says('Three months of rent [1].'))
    await ada.post('/api/rag/query', { question, collections })
    assert.doesNotMatch(readSystem(), /lawyer/)
  }
})
