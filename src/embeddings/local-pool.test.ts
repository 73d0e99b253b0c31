import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localEmbedder } from '#embeddings/local.ts'
import { createLocalEmbedder } from '#embeddings/local-pool.ts'

test('a long text read on a thread has the same vectors and frequencies as one read here', async (t) => {
  const shared = createLocalEmbedder()
  t.after(() => shared.close())
  const texts = [
    'Lighthouses were built in 1882. '.repeat(1_000),
    'Brot und Steuern.',
    '企鹅住在南极洲。',
  ]
  const { signal } = new AbortController()

  assert.deepEqual(
    await shared.embed(texts, 'document', signal),
    await localEmbedder.embed(texts, 'document', signal),
  )
})
