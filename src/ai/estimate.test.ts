import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { estimatePromptTokens } from './estimate.ts'
import { createInflateBudget, countPdfPages as pagesOf } from './pdf-pages.ts'
import type { ChatRequest, ContentPart } from './vendors/chat-request.ts'

const asked = (...parts: ContentPart[]): ChatRequest => ({
  messages: [{ role: 'user', content: parts }],
})
const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
const file = (mediaType: string, data: string) =>
  asked({ type: 'file', file: { filename: 'a', file_data: `data:${mediaType};base64,${data}` } })

const pdfPages = (pdf: Buffer, opening = createInflateBudget()) => pagesOf(pdf, opening)

/** As in a PDF of version 1.5: objects in a compressed stream. */
function compressedPdf(pages: number): Buffer {
  const objects = deflateSync(
    `<</Type/Pages/Count ${pages}>>${'<</Type /Page/Parent 2 0 R>>\n'.repeat(pages)}`,
  )
  return Buffer.concat([
    Buffer.from(
      `%PDF-1.5\n1 0 obj\n<</Type/ObjStm/N ${pages}/First 10/Length ${objects.length}>>\nstream\r\n`,
    ),
    objects,
    Buffer.from('\nendstream\nendobj\n'),
  ])
}

function plainPdf(pages: number): Buffer {
  return Buffer.from(
    `%PDF-1.4\n2 0 obj\n<</Type /Pages /Count ${pages}>>\n${'<< /Type /Page /Parent 2 0 R >>\n'.repeat(pages)}`,
  )
}

test('counts the pages of a PDF, plain or in compressed streams', () => {
  for (const pdf of [plainPdf(100), compressedPdf(100)]) {
    assert.equal(pdfPages(pdf), 100)
    const tokens = estimatePromptTokens(file('application/pdf', pdf.toString('base64')))
    assert.ok(tokens >= 300_000 && tokens < 301_000, `${tokens}`)
  }
  const one = estimatePromptTokens(file('application/pdf', plainPdf(1).toString('base64')))
  assert.ok(one >= 3_000 && one < 4_000, `${one}`)
})

test('estimates an unreadable PDF, or one that hides its pages, from its size', () => {
  assert.equal(pdfPages(Buffer.from('no PDF')), null)
  assert.equal(pdfPages(Buffer.from('/Type/ObjStm stream\nnot compressed')), null)
  assert.ok(estimatePromptTokens(file('application/pdf', base64(90_000))) >= 90_000)
  const hidden = Buffer.concat([plainPdf(1), Buffer.alloc(5_000_000, 1)])
  assert.ok(estimatePromptTokens(file('application/pdf', hidden.toString('base64'))) >= 50_000)
})

test('bounds the decompression for the whole request, even for streams without pages', () => {
  const bomb = Buffer.concat([
    Buffer.from('<</Type/ObjStm>>stream\n'),
    deflateSync(Buffer.alloc(200_000_000)),
  ])
  const opening = createInflateBudget()
  const { bytes, streams } = opening
  assert.equal(pdfPages(bomb, opening), null)
  assert.deepEqual([bytes - opening.bytes, streams - opening.streams], [1024 * 1024, 1])

  const many = Buffer.concat([
    Buffer.from('/ObjStm '.repeat(2_000)),
    bomb,
    Buffer.from('\nendstream '),
  ])
  assert.equal(pdfPages(many, opening), null)
  assert.equal(streams - opening.streams, 2, 'marks without a stream of their own open nothing')

  const part = { type: 'file', file: { file_data: many.toString('base64') } }
  estimatePromptTokens(asked(...Array.from({ length: 60 }, () => part)), opening)
  assert.ok(opening.bytes > -1024 * 1024, `${opening.bytes}`)
  assert.equal(
    pdfPages(compressedPdf(3), opening),
    null,
    'what cannot be opened any more is guessed from its bytes',
  )
  assert.equal(pdfPages(plainPdf(3), opening), 3)
})

test('counts reasoning in every field that clients use, and refusals as text', () => {
  const thought = 'x'.repeat(30_000)
  for (const beside of [
    { reasoning_details: [{ type: 'reasoning.text', text: thought }] },
    { reasoning_content: thought },
    { reasoning: thought },
  ]) {
    const tokens = estimatePromptTokens({
      messages: [{ role: 'assistant', content: 'x', ...beside }],
    })
    assert.ok(tokens >= 10_000 && tokens < 10_200, `${Object.keys(beside)}: ${tokens}`)
  }
  assert.ok(
    estimatePromptTokens(
      asked({ type: 'refusal', refusal: 'I cannot help with that.' }, { type: 'text' }),
    ) < 20,
  )
})

test('counts images, sound, video, texts and other files by type and size, in every format', () => {
  const table: [string, ChatRequest, number, number][] = [
    [
      'an image by its address',
      asked({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
      1_200,
      1_300,
    ],
    [
      'a small image',
      asked({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64(9_000)}` } }),
      1_200,
      1_300,
    ],
    [
      'a large image',
      asked({
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${base64(4_000_000)}` },
      }),
      4_800,
      4_900,
    ],
    [
      'a minute of sound',
      asked({ type: 'input_audio', input_audio: { data: base64(1_920_000), format: 'wav' } }),
      1_920,
      8_000,
    ],
    [
      'a minute of MP3',
      asked({ type: 'input_audio', input_audio: { data: base64(480_000), format: 'mp3' } }),
      1_920,
      6_000,
    ],
    ['a text', file('text/csv', base64(30_000)), 10_000, 10_100],
    [
      'bare base64 with a name',
      asked({ type: 'file', file: { filename: 'a.txt', file_data: base64(30_000) } }),
      10_000,
      10_100,
    ],
    [
      'a letter in Word',
      file(
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        base64(20_000),
      ),
      10_000,
      10_100,
    ],
    [
      'a file of the vendor’s',
      asked({ type: 'file', file: { file_id: 'file-1' } }),
      30_000,
      30_100,
    ],
    [
      'a document by its address',
      asked({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
      30_000,
      30_100,
    ],
    ['nothing known', asked({ type: 'hologram' }), 1, 30_100],
  ]
  for (const [name, request, least, most] of table) {
    const tokens = estimatePromptTokens(request)
    assert.ok(tokens >= least && tokens <= most, `${name}: ${tokens}`)
  }
})

test('counts the schemas of tools and of the answer', () => {
  const schema = { type: 'object', description: 'x'.repeat(30_000) }
  const messages: ChatRequest['messages'] = [{ role: 'user', content: 'Hi' }]
  const format: ChatRequest['response_format'] = {
    type: 'json_schema',
    json_schema: { name: 'a', schema },
  }
  assert.ok(estimatePromptTokens({ messages, response_format: format }) > 10_000)
  assert.ok(
    estimatePromptTokens({
      messages,
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    }) > 10_000,
  )
  assert.ok(
    estimatePromptTokens({ messages, functions: [{ name: 'f', parameters: schema }] }) > 10_000,
  )
})
