import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, type Step } from '#testing/mock-vendor.ts'
import { run } from '../rag.ts'

const PAIRS = Array.from({ length: 12 }, (_, i) => ({
  question: `question ${i}`,
  text: `text ${i}`,
}))

/**
 * Creates vectors in which each text is near its question. `apart`: distance from the common part.
 */
const embeds =
  (apart: number): Step =>
  (call, reply) => {
    const inputs: string[] = [call.body.input].flat()
    const data = inputs.map((input, index) => {
      const embedding = new Array<number>(PAIRS.length + 2).fill(0)
      embedding[Number(input.split(' ')[1])] = apart
      embedding[PAIRS.length] = 0.5
      embedding[PAIRS.length + 1] = input.startsWith('text') ? 0.3 : 0
      return { index, embedding }
    })
    reply.setHeader('content-type', 'application/json')
    reply.end(
      JSON.stringify({
        data,
        model: call.body.model,
        usage: { prompt_tokens: 7, total_tokens: 7 },
      }),
    )
  }

async function setUp(t: TestContext, pairs: object[] = PAIRS, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const { platform } = await testApp(t, {
    env: { ...vendor.env.openai, EMBEDDER: 'openai:some-embedder', ...env },
  })
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-pairs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pairs.jsonl')
  writeFileSync(file, pairs.map((pair) => JSON.stringify(pair)).join('\n'))
  const lines: string[] = []
  const context = {
    config: platform.config,
    platform: async () => platform,
    print: (line = '') => lines.push(line),
  }
  const calibrate = (...args: string[]) => run(['calibrate', ...args], context)
  return { vendor, file, lines, calibrate }
}

test('prints the setting for MODELS from the cosines of matching and other pairs', async (t) => {
  const { vendor, file, lines, calibrate } = await setUp(t)
  vendor.play(embeds(1))

  assert.equal(await calibrate(file), 0)

  assert.match(
    lines[0] ?? '',
    /^12 pairs: 24 texts go to openai\/some-embedder, at most \d+ tokens, \$0\.\d+$/,
  )
  const [question, text] = [Math.hypot(1, 0.5), Math.hypot(1, 0.5, 0.3)]
  const unrelated = 0.25 / (question * text)
  const answers = (unrelated + 1.25 / (question * text)) / 2
  const { id, similarity } = JSON.parse(lines.at(-1) ?? '')
  assert.equal(id, 'some-embedder')
  assert.ok(Math.abs(similarity.unrelated - unrelated) < 0.001)
  assert.ok(Math.abs(similarity.answers - answers) < 0.001)
  assert.equal(vendor.calls.length, 2)
})

test('keeps the tasks of a model, so that no document must be embedded again', async (t) => {
  const tasks = { member: 'input_type', query: 'query', document: 'passage' }
  const models = [{ id: 'some-embedder', kind: 'embedding', tasks }]
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const MODELS = join(folder, 'models.json')
  writeFileSync(MODELS, JSON.stringify({ vendors: [{ name: 'openai', models }] }))
  const { vendor, file, lines, calibrate } = await setUp(t, PAIRS, { MODELS })
  vendor.play(embeds(1))

  assert.equal(await calibrate(file), 0)
  assert.deepEqual(JSON.parse(lines.at(-1) ?? '').tasks, tasks)
})

test('prints no setting when the cosines do not separate answers', async (t) => {
  const { vendor, file, lines, calibrate } = await setUp(t)
  vendor.play(embeds(0))

  assert.equal(await calibrate(file), 1)

  assert.ok(lines.some((line) => line.startsWith('The model does not separate')))
  assert.ok(!lines.some((line) => line.includes('similarity')))
})

test('estimates the cost without a request to the vendor', async (t) => {
  const { vendor, lines, calibrate } = await setUp(t)

  assert.equal(await calibrate('--dry-run'), 0)

  assert.match(lines.join('\n'), /^\d+ pairs: .* tokens/)
  assert.equal(vendor.calls.length, 0)
})

test('rejects a file with too few pairs, and names an invalid line', async (t) => {
  const few = await setUp(t, PAIRS.slice(0, 3))
  await assert.rejects(few.calibrate(few.file), /pairs\.jsonl has 3 pairs: 10 to 1000 are needed/)
  const wrong = await setUp(t, [...PAIRS, { question: 'Why?' }])
  await assert.rejects(wrong.calibrate(wrong.file), /pairs\.jsonl:13: expected \{"question"/)
})
