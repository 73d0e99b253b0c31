import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { inMemory } from '#platform/content.ts'
import { deriveSecrets } from '#platform/secrets.ts'
import { seal, unseal } from './sealed.ts'

const secrets = deriveSecrets(randomBytes(32))
const SEGMENT = 64 * 1024 + 16

const sealBytes = (bytes: Uint8Array, id = 'one') => buffer(seal(secrets, id, inMemory(bytes)))
const open = (content: Buffer, id = 'one', pieces = 10_000) =>
  buffer(unseal(secrets, id, cut(content, pieces)))

async function* cut(content: Buffer, pieces: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < content.length; from += pieces)
    yield content.subarray(from, from + pieces)
}

test('a sealed file opens again in any pieces, and reveals nothing of its content', async () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
    const bytes = Buffer.alloc(length, 'A secret. ')
    const content = await sealBytes(bytes)
    assert.equal(content.includes('secret'), false)
    for (const pieces of [997, 65_536, SEGMENT, 1_000_000]) {
      assert.ok(bytes.equals(await open(content, 'one', pieces)), `${length} in ${pieces}`)
    }
  }
})

test('a file that was changed, cut, moved, joined or sealed for another id does not open', async () => {
  const content = await sealBytes(randomBytes(200_000))
  const segments = [0, 1, 2, 3].map((i) => content.subarray(i * SEGMENT, (i + 1) * SEGMENT))
  const [a, b, c, d] = segments as [Buffer, Buffer, Buffer, Buffer]
  const changed = Buffer.from(content)
  changed[100_000] = (changed[100_000] as number) ^ 1
  for (const wrong of [
    changed,
    Buffer.concat([a, b, c]),
    Buffer.concat([b, a, c, d]),
    Buffer.concat([a, c, d]),
    Buffer.concat([a, b, c, d, d]),
    content.subarray(0, -1),
    content.subarray(0, 10),
    Buffer.alloc(0),
  ]) {
    await assert.rejects(open(wrong))
  }
  await assert.rejects(open(content, 'two'))
  await assert.rejects(buffer(unseal(deriveSecrets(randomBytes(32)), 'one', cut(content, 10_000))))
})
