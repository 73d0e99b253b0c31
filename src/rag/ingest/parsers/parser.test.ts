import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { inFile, inMemory } from '#platform/content.ts'
import type { Problem } from '#platform/problem.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { createParser, type ParsedFile } from '#rag/ingest/parsers/parser.ts'
import { buildPdf, drawLines } from '#rag/ingest/parsers/samples.ts'
import { walkXml } from '#rag/ingest/parsers/xml.ts'
import { buildDocx, buildZip, paragraph } from '#testing/office-samples.ts'

const files = createTemporaryFiles(join(tmpdir(), `parsing-${randomUUID()}`), {
  memoryBytes: 1_000,
})
const parser = createParser({ temporaryFiles: files, log: createLog('silent') })
const cramped = createParser(
  { temporaryFiles: files, log: createLog('silent') },
  { cpuMs: 3_000, heapMb: 64, buffersMb: 100 },
)
after(() => Promise.all([parser.close(), cramped.close()]).then(files.close))

const patient = new AbortController().signal
const read = (name: string, bytes: Uint8Array | string) =>
  opened(name, bytes).then(({ text }) => String(text))

/** Short files are passed in memory and long ones on disk: both give the same result. */
async function opened(name: string, given: Uint8Array | string): Promise<ParsedFile> {
  const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given
  const long = files.create()
  writeFileSync(long.path, bytes)
  try {
    const inMemoryFirst = [inMemory(bytes), inFile(long.path, bytes.length)].map((content) =>
      parser.read(name, content, patient).then(
        (file) => ({ file, refusal: null }),
        (refusal: Problem) => ({ file: null, refusal }),
      ),
    )
    const [short, onDisk] = await Promise.all(inMemoryFirst)
    assert.deepEqual(await told(onDisk), await told(short))
    if (short?.file) return short.file
    throw short?.refusal
  } finally {
    long.remove()
  }
}

async function told(outcome: { file: ParsedFile | null; refusal: Problem | null } | undefined) {
  const { file = null, refusal = null } = outcome ?? {}
  if (file === null) return refusal?.detail
  const { text } = file
  return {
    ...file,
    text:
      typeof text === 'string' ? text : Buffer.from(await text.read(0, text.sizeBytes)).toString(),
  }
}

async function refused(promise: Promise<unknown>): Promise<{ status: number; reason: string }> {
  const problem = await promise.then(
    (text) => assert.fail(`read as ${JSON.stringify(String(text).slice(0, 80))}`),
    (error: Problem) => error,
  )
  const { detail } = problem
  return {
    status: problem.status,
    reason: typeof detail === 'string' ? detail : (detail[0]?.msg ?? ''),
  }
}

const encodings: [string, Uint8Array, string][] = [
  ['UTF-8', Buffer.from('naïve – 東京'), 'naïve – 東京'],
  ['UTF-8 with a mark', Buffer.from('\ufeffnaïve'), 'naïve'],
  ['UTF-16 LE with a mark', Buffer.from('\ufeffnaïve', 'utf16le'), 'naïve'],
  ['UTF-16 BE with a mark', Buffer.from('\ufeffnaïve', 'utf16le').swap16(), 'naïve'],
  ['UTF-16 LE without a mark', Buffer.from('plain words', 'utf16le'), 'plain words'],
  [
    'windows-1252',
    Buffer.from([0x6e, 0x61, 0xef, 0x76, 0x65, 0x20, 0x96, 0x20, 0x80]),
    'naïve – €',
  ],
]
for (const [name, bytes, text] of encodings) {
  test(`reads plain text in ${name}`, async () =>
    assert.equal(await read('a.txt', new Uint8Array(bytes)), text))
}

test('a Word document gives headings, lists and tables, without deleted text', async () => {
  const bytes = buildDocx(
    [
      paragraph('Title', '<w:pStyle w:val="berschrift1"/>'),
      paragraph('Fish &amp; chips &#8364;5'),
      paragraph('one', '<w:numPr/>'),
      paragraph('two', '<w:numPr/>'),
      '<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>',
      `<w:tbl><w:tr><w:tc>${paragraph('a')}</w:tc><w:tc>${paragraph('b')}</w:tc></w:tr><w:tr><w:tc>${paragraph('c')}</w:tc><w:tc>${paragraph('d')}</w:tc></w:tr></w:tbl>`,
    ].join(''),
    {
      'word/styles.xml':
        '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>',
    },
  )

  assert.equal(
    await read('a.docx', bytes),
    '# Title\n\nFish & chips €5\n\n- one\n- two\n\nkept\n\n| a | b |\n| --- | --- |\n| c | d |',
  )
})

test('reads a Word document’s lists by style, and leaves the columns of merged cells empty', async () => {
  const cell = (text: string, properties = '') =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
  const bytes = buildDocx(
    [
      paragraph('one', '<w:pStyle w:val="Bullet"/>'),
      paragraph('two', '<w:pStyle w:val="Bullet"/>'),
      paragraph('none', '<w:pStyle w:val="Bullet"/><w:numPr><w:numId w:val="0"/></w:numPr>'),
      `<w:tbl><w:tr>${cell('Code')}${cell('Name')}${cell('Days')}</w:tr><w:tr>${cell('Sum', '<w:gridSpan w:val="2"/>')}${cell('7')}</w:tr></w:tbl>`,
    ].join(''),
    {
      'word/styles.xml':
        '<w:styles><w:style w:styleId="Bullet"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style></w:styles>',
    },
  )

  assert.equal(
    await read('a.docx', bytes),
    '- one\n- two\n\nnone\n\n| Code | Name | Days |\n| --- | --- | --- |\n| Sum |  | 7 |',
  )
})

test('reads a Word document after its tracked changes', async () => {
  const was = (properties: string) => `<w:pPrChange><w:pPr>${properties}</w:pPr></w:pPrChange>`
  const cell = (text: string, span: string) =>
    `<w:tc><w:tcPr>${span}</w:tcPr>${paragraph(text)}</w:tc>`
  const bytes = buildDocx(
    [
      paragraph(
        'item now',
        `<w:numPr><w:numId w:val="3"/></w:numPr>${was('<w:pStyle w:val="X"/>')}`,
      ),
      paragraph('no item now', was('<w:numPr><w:numId w:val="3"/></w:numPr>')),
      `<w:tbl><w:tr>${cell('a', '<w:gridSpan w:val="-1"/>')}${cell('b', '<w:tcPrChange><w:tcPr><w:gridSpan w:val="2"/></w:tcPr></w:tcPrChange>')}</w:tr></w:tbl>`,
    ].join(''),
  )
  assert.equal(await read('a.docx', bytes), '- item now\n\nno item now\n\n| a | b |')
})

test('merged cells of a Word document do not fill the memory', async () => {
  const row = `<w:tr><w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr>${paragraph('a')}</w:tc></w:tr>`
  assert.ok(
    (await read('a.docx', buildDocx(`<w:tbl>${row.repeat(10_000)}</w:tbl>`))).length < 1_200_000,
  )
})

test('starts a new line after the longest line of a list, but not after that of a text', async () => {
  const names = [
    'Ada Lovelace',
    'Grace Brewster Murray Hopper',
    'Alan Turing',
    'Edsger Dijkstra',
    'Barbara Liskov',
  ]
  assert.equal(await read('a.pdf', buildPdf([drawLines(names)])), names.join('\n'))
  const prose = [
    'The harbour has two cranes, of which',
    'one was built for ships that came with',
    'extraordinarily heavy loads and the',
    'other for those that did not.',
  ]
  assert.equal(await read('a.pdf', buildPdf([drawLines(prose)])), prose.join(' '))
})

test('a PDF gives paragraphs with joined lines and words', async () => {
  const page = drawLines([
    'The first paragraph goes on for a while and is then hyphen-',
    'ated over two lines of about the same length as this.',
  ])
  const second = drawLines(['A second paragraph stands apart.'], { y: 640 })

  assert.equal(
    await read('a.pdf', buildPdf([`${page}\n${second}`])),
    'The first paragraph goes on for a while and is then hyphenated over two lines of about the same length as this.\n\nA second paragraph stands apart.',
  )
})

/** Draws a page: its text from y = 720 down, its header and its footer. */
function pageOf(lines: string[], { head = '', foot = '', step = 14 } = {}): string {
  return [
    ...(head === '' ? [] : [drawLines([head], { y: 770 })]),
    drawLines(lines, { y: 720, step }),
    ...(foot === '' ? [] : [drawLines([foot], { y: 30 })]),
  ].join('\n')
}

const prose = (page: number) =>
  Array.from(
    { length: 30 },
    (_, i) =>
      `On this ${['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'][page - 1]} page line ${i + 1} of the report speaks of the harbour and of its ships.`,
  )

const heads: [string, (page: number) => { head?: string; foot?: string }, RegExp][] = [
  [
    'the same words',
    () => ({ head: 'Annual report 2026', foot: 'Confidential' }),
    /Annual|Confidential/,
  ],
  ['a number alone', (n) => ({ foot: `${n}` }), /^\d+$/m],
  ['a journal’s number', (n) => ({ foot: `- ${464 + n} -` }), /46\d/],
  ['a page of all', (n) => ({ foot: `Page ${n} of 8` }), /Page \d/],
  ['another language', (n) => ({ foot: `Jahresbericht, Seite ${n}` }), /Jahresbericht/],
  ['a number before the title', (n) => ({ head: `${n} | Annual report` }), /Annual/],
  ['a number behind the title', (n) => ({ foot: `Annual report | ${n}` }), /Annual/],
  ['the same words in capitals', () => ({ head: 'ACME HARBOUR WORKS LTD' }), /ACME/],
]
for (const [title, edge, gone] of heads) {
  test(`leaves out running lines: ${title}`, async () => {
    const pages = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => pageOf(prose(n), edge(n)))

    const { text, warnings } = await opened('a.pdf', buildPdf(pages))

    assert.doesNotMatch(String(text), gone)
    assert.match(String(text), /first page line 1 [\s\S]*eighth page line 30 /)
    assert.deepEqual(warnings, [
      { page: null, reason: 'Repeated page headers and footers are left out.' },
    ])
  })
}

for (const last of [
  'Week 1',
  'Balance due 20',
  'Total: 5',
  'Invoice 12',
  'Voucher 7',
  '3. Delivery',
  '9 vouchers so far',
]) {
  test(`keeps a last line whose number increases with the pages: ${last}`, async () => {
    const foots = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
      last.replace(/\d+/, (first) => `${Number(first) + n - 1}`),
    )
    const pages = foots.map((foot, i) => pageOf(prose(i + 1), { foot }))

    const { text, warnings } = await opened('a.pdf', buildPdf(pages))

    for (const foot of foots) assert.ok(String(text).includes(foot), foot)
    assert.deepEqual(warnings, [])
  })
}

const rows = <T>(count: number, row: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => row(i))
const cut = (all: string[], each: number) =>
  Array.from({ length: Math.ceil(all.length / each) }, (_, i) =>
    all.slice(i * each, (i + 1) * each),
  )
const letter = rows(
  20,
  (i) => `Dear customer, sentence ${i} of this letter explains the statement that follows it.`,
)
const alike: [string, string[][], object?][] = [
  [
    'a statement behind a letter',
    [
      letter,
      ...cut(
        rows(132, (i) => `2026-01-${(i % 28) + 1} Card payment ${1001 + i} EUR ${18 + i}.01`),
        22,
      ),
    ],
    { step: 28 },
  ],
  [
    'laboratory results',
    rows(6, (n) => [
      ...rows(21, (i) => `Sample ${101 + n * 21 + i}: pH 1.${i} temp 2${n} C`),
      `Note of page ${'abcdef'[n]}: done`,
    ]),
    { step: 28 },
  ],
  [
    'numbered rows',
    cut(
      rows(100, (i) => `${i + 1} Item of the list`),
      20,
    ),
    { step: 28 },
  ],
  [
    'serial numbers',
    cut(
      rows(100, (i) => `SN ${40_000 + i}`),
      20,
    ),
    { step: 28 },
  ],
  ['a ticket a page', rows(8, (n) => [`Ticket ${1001 + n}`, ...prose(n + 1)])],
  ['a question a page', rows(8, (n) => [`Question ${n + 1}`, ...prose(n + 1)])],
  ['a day a page', rows(8, (n) => [`Log of 2026-03-0${n + 1}`, ...prose(n + 1)])],
  [
    'numbers alone',
    cut(
      rows(120, (i) => `${1000 + i}`),
      24,
    ),
    { step: 28 },
  ],
  [
    'invoices',
    rows(7, (n) => [
      'Invoice',
      `Number ${501 + n}`,
      `Customer ${n}`,
      `Total EUR ${n * 7}.50`,
      'Due in 14 days',
    ]),
  ],
  ['slides', rows(9, (n) => ['Agenda', `Point ${'abcdefghi'[n]} of the talk`, 'Questions?'])],
  ['the same form', rows(6, () => ['Form 12', 'Name', 'Street', 'City'])],
]
for (const [title, pages, layout = {}] of alike) {
  test(`keeps rows that look alike: ${title}`, async () => {
    const text = await read('a.pdf', buildPdf(pages.map((lines) => pageOf(lines, layout))))

    const seen = text.replace(/\s+/g, ' ')
    for (const line of pages.flat())
      assert.ok(seen.includes(line), `${line} is not in ${seen.slice(0, 300)}`)
    const count = (line: string) => pages.flat().filter((other) => other === line).length
    for (const line of new Set(pages.flat()))
      assert.ok(seen.split(line).length - 1 >= count(line), line)
  })
}

test('keeps the names of a table’s columns, though every page repeats them', async () => {
  const columns = [72, 240, 420]
    .map((x, i) => drawLines([['Date', 'Payee', 'Amount'][i] ?? ''], { x, y: 740 }))
    .join('\n')
  const pages = [1, 2, 3, 4, 5, 6].map(
    (n) => `${columns}\n${pageOf(prose(n), { foot: `Page ${n}` })}`,
  )

  const text = await read('a.pdf', buildPdf(pages))

  assert.equal(text.match(/Date\s+Payee\s+Amount/g)?.length, 6)
  assert.doesNotMatch(text, /Page \d/)
})

test('keeps a header that states a fact once', async () => {
  const pages = [1, 2, 3, 4, 5, 6].map((n) =>
    pageOf(prose(n), {
      head: 'Patient: Ada Lovelace, born 1815',
      foot: `Account DE89 3704 0044 0532 · Page ${n}`,
    }),
  )

  const text = await read('a.pdf', buildPdf(pages))

  assert.equal(text.match(/Patient: Ada Lovelace/g)?.length, 1)
  assert.equal(text.match(/DE89 3704 0044 0532/g)?.length, 1)
})

test('keeps the header and footer of a page without other text', async () => {
  const pages = [1, 2, 3, 4, 5, 6].map((n) =>
    pageOf(n === 4 ? [] : prose(n), { head: 'Annual report', foot: `${n}` }),
  )

  const text = await read('a.pdf', buildPdf(pages))

  assert.equal(text.match(/Annual report/g)?.length, 1)
})

test('judges pages one by one, and leaves out unreadable ones with a warning', async () => {
  const unreadable = Array.from(
    { length: 12 },
    () => 'BT /F 12 Tf 72 700 Td <0102030405060708> Tj ET',
  ).join('\n')
  const { text, warnings } = await opened(
    'a.pdf',
    buildPdf([
      drawLines(['The first page is good.']),
      '0 0 m 9 9 l S',
      unreadable,
      drawLines(['The last one, too.']),
    ]),
  )

  assert.equal(text, 'The first page is good.\n\nThe last one, too.')
  assert.deepEqual(
    warnings.map(({ page }) => page),
    [2, 3],
  )
  assert.match(warnings[0]?.reason ?? '', /no text.*OCR/)
  assert.match(warnings[1]?.reason ?? '', /fonts/)
  const { status, reason } = await refused(read('a.pdf', buildPdf([unreadable, unreadable])))
  assert.equal(status, 422)
  assert.match(reason, /fonts/)
})

test('leaves out a page that throws, with a warning', async () => {
  const whole = Buffer.from(
    buildPdf([drawLines(['The first page is good.']), drawLines(['The second is lost.'])]),
  )
  // The list of pages points to a missing object.
  whole.write('/Kids[4 0 R 0 0 R]', whole.indexOf('/Kids['))

  const { text, warnings } = await opened('a.pdf', new Uint8Array(whole))

  assert.equal(text, 'The first page is good.')
  assert.deepEqual(warnings, [{ page: 2, reason: 'The page is damaged and cannot be read.' }])
})

test('names the files attached to a PDF as left out', async () => {
  const file = '<</Type/Filespec/F(a.txt)/EF<</F 5 0 R>>>>'
  const { warnings } = await opened(
    'a.pdf',
    buildPdf([drawLines(['A form.'])], '', {
      catalogue: `/Names<</EmbeddedFiles<</Names[(a.txt)${file}]>>>>`,
    }),
  )

  assert.deepEqual(warnings, [
    { page: null, reason: 'The files attached to the PDF are left out.' },
  ])
})

test('names the parts outside of a Word document’s text as left out', async () => {
  const part = (text: string) => `<w:hdr>${paragraph(text)}</w:hdr>`
  const plain = await opened(
    'a.docx',
    buildDocx(paragraph('text'), { 'word/header1.xml': part(' ') }),
  )
  const rich = await opened(
    'a.docx',
    buildDocx(`${paragraph('text')}<w:altChunk r:id="r1"/><w:p><c:chart r:id="r3"/></w:p>`, {
      'word/_rels/document.xml.rels':
        '<Relationship Id="r2" Type="x/package" Target="embeddings/sheet.xlsx"/><Relationship Id="r3" Type="x/chart" Target="nowhere.xml"/>',
      'word/media/image1.png': 'x',
      'word/charts/chart1.xml': '<c/>',
      'word/footer2.xml': part('Draft'),
      'word/comments.xml': part('Really?'),
      'word/embeddings/sheet.xlsx': 'x',
    }),
  )

  assert.deepEqual(plain, { text: 'text', outline: {}, warnings: [] })
  assert.equal(rich.text, 'text')
  const reasons = rich.warnings.map(({ page, reason }) => `${page} ${reason}`).join('\n')
  for (const what of [
    /Pictures/,
    /Charts/,
    /headers and footers/,
    /Comments/,
    /Embedded/,
    /inserted/,
  ])
    assert.match(reasons, what)
})

const refusals: [string, string, Uint8Array | string, number, RegExp][] = [
  ['an unknown ending', 'a.exe', 'MZ', 415, /\.pdf, \.docx, \.xlsx/],
  ['no ending', 'README', 'text', 415, /Unsupported/],
  ['a document of Word 97', 'a.doc', 'x', 415, /Save it as \.docx and upload it again/],
  ['an empty file', 'a.txt', '', 422, /empty/],
  [
    'a document of pictures alone',
    'a.docx',
    buildDocx('', { 'word/media/a.png': 'x' }),
    422,
    /no text that can be read\. Pictures/,
  ],
  ['white space', 'a.txt', ' \n ', 422, /no text/],
  ['binary data named .txt', 'a.txt', new Uint8Array([1, 2, 0, 4, 200]), 422, /binary/],
  ['a ZIP named .txt', 'a.txt', buildZip({ a: 'b' }), 422, /not a text file/],
  ['text named .pdf', 'a.pdf', 'hello', 422, /not a PDF/],
  ['text named .docx', 'a.docx', 'hello', 422, /not a Word document/],
  ['a ZIP without a document', 'a.docx', buildZip({ 'x.xml': '<a/>' }), 422, /not a Word document/],
  ['a cut ZIP', 'a.docx', buildDocx(paragraph('x')).subarray(0, 90), 422, /damaged/],
  [
    'an old .doc',
    'a.docx',
    new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0]),
    422,
    /old \.doc/,
  ],
  [
    'an encrypted document',
    'a.docx',
    Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.from('EncryptedPackage', 'utf16le'),
    ]),
    422,
    /encrypted/,
  ],
  ['a PDF without text', 'a.pdf', buildPdf(['0 0 m 9 9 l S']), 422, /no text.*OCR/],
  ['a PDF of nothing but its header', 'a.pdf', '%PDF-1.7\n', 422, /damaged|no text/],
  [
    'an encrypted PDF',
    'a.pdf',
    buildPdf(
      [drawLines(['secret'])],
      `/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -44/O<${'1f'.repeat(32)}>/U<${'2e'.repeat(32)}>>>`,
    ),
    422,
    /encrypted/,
  ],
]
for (const [title, name, bytes, status, reason] of refusals) {
  test(`refuses ${title} with ${status} and a reason`, async () => {
    const refusal = await refused(read(name, bytes))
    assert.equal(refusal.status, status)
    assert.match(refusal.reason, reason)
  })
}

test('does not follow an entity that points outside of the document', async () => {
  const bytes = buildZip({
    'word/document.xml':
      '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyyy">]><w:document><w:body><w:p><w:r><w:t>a&x;&y;b</w:t></w:r></w:p></w:body></w:document>',
  })

  assert.equal(await read('a.docx', bytes), 'ab')
})

test('limits the cost of a ZIP bomb to its cap', async () => {
  const bomb = buildZip({ 'word/document.xml': new Uint8Array(200_000_000) })
  assert.ok(bomb.length < 300_000)

  const { status, reason } = await refused(read('a.docx', bomb))

  assert.equal(status, 422)
  assert.match(reason, /unpacks to more than/)
})

test('stops a PDF that unpacks endlessly', async () => {
  // Four layers of deflate: 50 KB that unpack to 400 MB of drawing.
  const inner = deflateSync(Buffer.alloc(100_000_000, `${drawLines(['x'])}\n`), { level: 1 })
  const bomb = buildPdf(
    Array.from({ length: 4 }, () => ({ raw: new Uint8Array(inner), filter: 'FlateDecode' })),
  )

  const { status, reason } = await refused(cramped.read('a.pdf', inMemory(bomb), patient))

  assert.equal(status, 422)
  assert.match(reason, /too long|too much/)
})

test('reads a short file that unpacks to a long text whole', async () => {
  const sentence = 'A sentence that stands there many times. '
  const { text } = await opened('long.docx', buildDocx(paragraph(sentence.repeat(15_000))))
  assert.ok(typeof text !== 'string')
  assert.equal(
    Buffer.from(await text.read(0, text.sizeBytes))
      .toString()
      .trim(),
    sentence.repeat(15_000).trim(),
  )
  text.remove()
})

test('the pool still works after a worker was killed', async () => {
  const { text } = await cramped.read('a.docx', inMemory(buildDocx(paragraph('alive'))), patient)
  assert.equal(text, 'alive')
})

test('nested tables, and tags without an end, do not stop the parser', async () => {
  const deep = '<w:tbl><w:tr><w:tc>'.repeat(3_000) + paragraph('deep')
  assert.match(await read('a.docx', buildDocx(`${paragraph('first')}${deep}`)), /first/)
})

test('any bytes end in text or an error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('a.docx', 'a.pdf', 'a.txt', 'a.eml', 'a.ipynb', 'a.srt'),
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(400),
      async (name, noise, at) => {
        const whole =
          name === 'a.docx' ? buildDocx(paragraph('hello')) : buildPdf([drawLines(['hello'])])
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

test('reads any XML once', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          '<a>',
          '</a>',
          '<!--',
          '-->',
          '<![CDATA[',
          ']]>',
          '<?',
          '"',
          "'",
          '&lt;',
          '&',
          '<',
          '>',
          'x',
        ),
        { maxLength: 200 },
      ),
      (parts) => {
        walkXml(parts.join(''), { open() {} })
      },
    ),
  )
  for (const part of [
    '<',
    '<!--',
    '<![CDATA[',
    '<?',
    '<!DOCTYPE [',
    '<a "',
    "<a b='<",
    '<a ',
    '&',
  ]) {
    walkXml(part.repeat(200_000), { open() {} })
  }
})
