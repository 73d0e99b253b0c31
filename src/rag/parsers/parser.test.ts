import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import type { Problem } from '#platform/problem.ts'
import { createParser } from '#rag/parsers/parser.ts'
import { docxOf, drawn, paragraph, pdfOf, zipOf } from '#rag/parsers/samples.ts'
import { walkXml } from '#rag/parsers/xml.ts'

const parser = createParser()
const cramped = createParser({ timeMs: 10_000, heapMb: 64, buffersMb: 100 })
after(() => Promise.all([parser.close(), cramped.close()]))

const patient = new AbortController().signal
const read = (name: string, bytes: Uint8Array | string) =>
  parser.read(name, typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes, patient).then(String)

async function refused(promise: Promise<string | Uint8Array>): Promise<{ status: number; reason: string }> {
  const problem = await promise.then(
    (text) => assert.fail(`read as ${JSON.stringify(String(text).slice(0, 80))}`),
    (error: Problem) => error,
  )
  const { detail } = problem
  return { status: problem.status, reason: typeof detail === 'string' ? detail : (detail[0]?.msg ?? '') }
}

const encodings: [string, Uint8Array, string][] = [
  ['UTF-8', Buffer.from('naïve – 東京'), 'naïve – 東京'],
  ['UTF-8 with a mark', Buffer.from('\ufeffnaïve'), 'naïve'],
  ['UTF-16 LE with a mark', Buffer.from('\ufeffnaïve', 'utf16le'), 'naïve'],
  ['UTF-16 BE with a mark', Buffer.from('\ufeffnaïve', 'utf16le').swap16(), 'naïve'],
  ['UTF-16 LE without a mark', Buffer.from('plain words', 'utf16le'), 'plain words'],
  ['windows-1252', Buffer.from([0x6e, 0x61, 0xef, 0x76, 0x65, 0x20, 0x96, 0x20, 0x80]), 'naïve – €'],
]
for (const [name, bytes, text] of encodings) {
  test(`plain text in ${name}`, async () => assert.equal(await read('a.txt', new Uint8Array(bytes)), text))
}

test('a Word document gives headings, lists and tables, without what was deleted', async () => {
  const bytes = docxOf(
    [
      paragraph('Title', '<w:pStyle w:val="berschrift1"/>'),
      paragraph('Fish &amp; chips &#8364;5'),
      paragraph('one', '<w:numPr/>'),
      paragraph('two', '<w:numPr/>'),
      '<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>',
      `<w:tbl><w:tr><w:tc>${paragraph('a')}</w:tc><w:tc>${paragraph('b')}</w:tc></w:tr><w:tr><w:tc>${paragraph('c')}</w:tc><w:tc>${paragraph('d')}</w:tc></w:tr></w:tbl>`,
    ].join(''),
    {
      'word/styles.xml': '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>',
    },
  )

  assert.equal(
    await read('a.docx', bytes),
    '# Title\n\nFish & chips €5\n\n- one\n- two\n\nkept\n\n| a | b |\n| c | d |',
  )
})

test('a PDF gives paragraphs with joined lines and words', async () => {
  const page = drawn([
    'The first paragraph goes on for a while and is then hyphen-',
    'ated over two lines of about the same length as this.',
  ])
  const second = drawn(['A second paragraph stands apart.'], { y: 640 })

  assert.equal(
    await read('a.pdf', pdfOf([`${page}\n${second}`])),
    'The first paragraph goes on for a while and is then hyphenated over two lines of about the same length as this.\n\nA second paragraph stands apart.',
  )
})

test('lines that every page repeats are left out', async () => {
  const pages = [1, 2, 3, 4, 5].map(
    (n) =>
      `${drawn(['Annual report'], { y: 760 })}\n${drawn([`Page body number ${'abcde'[n - 1]}.`])}\n${drawn([`${n}`], { y: 30 })}`,
  )

  const text = await read('a.pdf', pdfOf(pages))

  assert.doesNotMatch(text, /Annual|\d/)
  assert.match(text, /number a\.[\s\S]*number e\./)
})

const refusals: [string, string, Uint8Array | string, number, RegExp][] = [
  ['an unknown ending', 'a.exe', 'MZ', 415, /\.txt, \.md, \.pdf or \.docx/],
  ['no ending', 'README', 'text', 415, /Unsupported/],
  ['an empty file', 'a.txt', '', 422, /empty/],
  ['white space', 'a.txt', ' \n ', 422, /no text/],
  ['binary data named .txt', 'a.txt', new Uint8Array([1, 2, 0, 4, 200]), 422, /binary/],
  ['a ZIP named .txt', 'a.txt', zipOf({ a: 'b' }), 422, /not a text file/],
  ['text named .pdf', 'a.pdf', 'hello', 422, /not a PDF/],
  ['text named .docx', 'a.docx', 'hello', 422, /not a Word document/],
  ['a ZIP without a document', 'a.docx', zipOf({ 'x.xml': '<a/>' }), 422, /not a Word document/],
  ['a cut ZIP', 'a.docx', docxOf(paragraph('x')).subarray(0, 90), 422, /damaged/],
  ['an old .doc', 'a.docx', new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0]), 422, /old \.doc/],
  [
    'an encrypted document',
    'a.docx',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    422,
    /encrypted/,
  ],
  ['a PDF without text', 'a.pdf', pdfOf(['0 0 m 9 9 l S']), 422, /no text.*OCR/],
  ['a PDF of nothing but its header', 'a.pdf', '%PDF-1.7\n', 422, /damaged|no text/],
  [
    'an encrypted PDF',
    'a.pdf',
    pdfOf(
      [drawn(['secret'])],
      `/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -44/O<${'1f'.repeat(32)}>/U<${'2e'.repeat(32)}>>>`,
    ),
    422,
    /encrypted/,
  ],
]
for (const [title, name, bytes, status, reason] of refusals) {
  test(`${title} is refused with ${status} and a reason`, async () => {
    const refusal = await refused(read(name, bytes))
    assert.equal(refusal.status, status)
    assert.match(refusal.reason, reason)
  })
}

test('an entity that points outside of the document is not followed', async () => {
  const bytes = zipOf({
    'word/document.xml':
      '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyyy">]><w:document><w:body><w:p><w:r><w:t>a&x;&y;b</w:t></w:r></w:p></w:body></w:document>',
  })

  assert.equal(await read('a.docx', bytes), 'ab')
})

test('a ZIP bomb costs its cap and no more', async () => {
  const bomb = zipOf({ 'word/document.xml': new Uint8Array(200_000_000) })
  assert.ok(bomb.length < 300_000)

  const { status, reason } = await refused(read('a.docx', bomb))

  assert.equal(status, 422)
  assert.match(reason, /unpacks to more than/)
})

test('a PDF that unpacks without end is stopped', async () => {
  // Four layers of deflate: 150 KB that become 1.2 GB of drawing.
  const inner = deflateSync(Buffer.alloc(300_000_000, `${drawn(['x'])}\n`), { level: 1 })
  const bomb = pdfOf(Array.from({ length: 4 }, () => ({ raw: new Uint8Array(inner), filter: 'FlateDecode' })))

  const { status, reason } = await refused(cramped.read('a.pdf', bomb, patient))

  assert.equal(status, 422)
  assert.match(reason, /too long|too much/)
})

test('the pool still works after a worker was killed', async () => {
  const text = await cramped.read('a.docx', docxOf(paragraph('alive')), patient)
  assert.equal(text, 'alive')
})

test('tables in tables, and tags without an end, do not stop the reading', async () => {
  const deep = '<w:tbl><w:tr><w:tc>'.repeat(3_000) + paragraph('deep')
  assert.match(await read('a.docx', docxOf(`${paragraph('first')}${deep}`)), /first/)
})

test('any bytes end in text or a refusal', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('a.docx', 'a.pdf', 'a.txt'),
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(400),
      async (name, noise, at) => {
        const whole = name === 'a.docx' ? docxOf(paragraph('hello')) : pdfOf([drawn(['hello'])])
        const bytes = new Uint8Array(whole)
        bytes.set(noise.subarray(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length))
        const text = await read(name, bytes).catch((error: Problem) => {
          assert.equal(error.status, 422, String(error))
          return ''
        })
        assert.equal(typeof text, 'string')
      },
    ),
    { numRuns: 120 },
  )
})

test('XML is walked once whatever it holds', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom('<a>', '</a>', '<!--', '-->', '<![CDATA[', ']]>', '<?', '"', "'", '&lt;', '&', '<', '>', 'x'),
        { maxLength: 200 },
      ),
      (parts) => {
        walkXml(parts.join(''), { open() {}, close() {}, text() {} })
      },
    ),
  )
  for (const part of ['<', '<!--', '<![CDATA[', '<?', '<!DOCTYPE [', '<a "', "<a b='<", '<a ', '&']) {
    walkXml(part.repeat(200_000), { open() {}, close() {}, text() {} })
  }
})
