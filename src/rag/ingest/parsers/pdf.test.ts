// The text of drawn PDFs: every line in its order, headings, tables, and form values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PdfSample, pdfSamples, renderPdf } from '#testing/pdf-samples.ts'
import { createChunkedText } from '../chunked-text.ts'
import type { Outline } from '../outline.ts'
import { parsePdf } from './pdf.ts'
import { buildPdf, drawLines, freeNumber } from './samples.ts'

for (const sample of pdfSamples()) {
  test(`${sample.name}: no line is lost, added or moved`, async () => {
    const { text, outline = {}, warnings } = await parsePdf(renderPdf(sample))

    assertSame(plain(text), plain(createLines(sample).join('\n')))
    const { texts, places } = cut(text, outline)
    const paths = places
      .map(({ heading }) => heading)
      .filter((path, i, all) => path !== null && path !== all[i - 1])
    assert.deepEqual(paths, sample.headings)
    assert.deepEqual(headsIn(text), sample.tables)
    for (const [i, piece] of texts.entries()) {
      if (!/^\|(?! ---)/.test(piece) || sample.tables.some((head) => piece.startsWith(head)))
        continue
      assert.ok(
        sample.tables.some((head) => places[i]?.tableHeader?.startsWith(head)),
        `no head goes with ${piece}`,
      )
    }
    assert.deepEqual(
      warnings.map(({ page }) => page),
      sample.running ? [null] : [],
    )
  })
}

function createLines({ pages }: PdfSample): string[] {
  return pages.flat().map(({ text }) => text)
}

/** Removes the marks of Markdown. */
function plain(text: string): string {
  return text
    .replace(/^\| --- .*$/gm, '')
    .replace(/^#+ /gm, '')
    .replace(/[\s|]/g, '')
}

/** Reports only the first difference, because these texts are long. */
function assertSame(actual: string, expected: string): void {
  let at = 0
  while (at < actual.length && actual[at] === expected[at]) at++
  assert.equal(
    actual.slice(Math.max(0, at - 40), at + 40),
    expected.slice(Math.max(0, at - 40), at + 40),
  )
}

function headsIn(text: string): string[] {
  return [...text.matchAll(/^(\|.*\|)\n\| --- /gm)].map(([, head]) => head as string)
}

function cut(text: string, outline: Outline) {
  const { info, slice } = createChunkedText(text, { size: 100, overlap: 0 }, outline)
  return slice(0, info.total)
}

/** A page with these lines and these form fields. */
function formOf(lines: string, fields: string[]): Uint8Array {
  const free = freeNumber(1)
  const refs = fields.map((_, i) => `${free + i} 0 R`).join(' ')
  return buildPdf([lines], '', {
    catalogue: `/AcroForm<</Fields[${refs}]/DA(/F 10 Tf 0 g)/DR<</Font<</F 3 0 R>>>>>>`,
    page: `/Annots[${refs}]`,
    objects: fields.map((field) => `<</Type/Annot/Subtype/Widget${field}>>`),
  })
}

const read = async (bytes: Uint8Array) => (await parsePdf(bytes)).text

test('the value of a form field is where the page shows it', async () => {
  const page = [
    drawLines(['Name:'], { y: 700 }),
    drawLines(['Born in:'], { x: 300, y: 700 }),
    drawLines(['Smoker'], { x: 100, y: 680 }),
    drawLines(['Swimmer'], { x: 220, y: 680 }),
    drawLines(['Country:'], { y: 660 }),
    drawLines(['Single'], { x: 100, y: 640 }),
    drawLines(['Married'], { x: 220, y: 640 }),
    drawLines(['Remarks'], { y: 620 }),
    drawLines(['Signed in the harbour office.'], { y: 540 }),
  ].join('\n')
  const box = (name: string, x: number, y: number, state: string) =>
    `/FT/Btn/T(${name})/Rect[${x} ${y} ${x + 10} ${y + 10}]/V/${state}/AS/${state}/AP<</N<</Yes 3 0 R/Off 3 0 R>>>>`
  const text = await read(
    formOf(page, [
      '/FT/Tx/T(remarks)/Ff 4096/Rect[72 550 400 612]/V(Sails at night,\\nnever alone.)',
      '/FT/Tx/T(born)/Rect[360 697 460 711]/V(1815)',
      '/FT/Tx/T(name)/Rect[120 697 260 711]/V(Ada Lovelace)',
      '/FT/Ch/T(country)/Ff 131072/Rect[130 657 260 671]/Opt[[(fr)(France)][(pt)(Portugal)]]/V(pt)',
      box('smoker', 85, 680, 'Off'),
      box('swimmer', 205, 680, 'Yes'),
      box('single', 85, 640, 'Yes'),
      box('married', 205, 640, 'Off'),
      '/FT/Tx/T(hidden)/F 2/Rect[120 697 260 711]/V(not shown)',
      '/FT/Tx/T(word)/Ff 8192/Rect[120 600 260 611]/V(password)',
      '/FT/Btn/T(send)/Ff 65536/Rect[72 500 120 512]/MK<</CA(Send)>>',
    ]),
  )

  assert.equal(
    text.replace(/\s+/g, ' '),
    [
      'Name: Ada Lovelace Born in: 1815',
      '[ ] Smoker [x] Swimmer',
      'Country: Portugal',
      '[x] Single [ ] Married',
      'Remarks',
      'Sails at night,',
      'never alone.',
      'Signed in the harbour office.',
    ].join(' '),
  )
})

test('a field’s drawing counts, not a different value', async () => {
  const drawnValue = '/FT/Tx/T(sum)/Rect[120 697 260 711]/V(1250)/AP<</N 9 0 R>>'
  const appearance = 'BT /F 10 Tf 2 4 Td (1,250.00 EUR) Tj ET'
  const bytes = buildPdf([drawLines(['Sum:'], { y: 700 })], '', {
    catalogue: '/AcroForm<</Fields[8 0 R]/DA(/F 10 Tf 0 g)>>',
    page: '/Annots[8 0 R]',
    objects: [
      `<</Type/Annot/Subtype/Widget${drawnValue}>>`,
      `<</Type/XObject/Subtype/Form/BBox[0 0 140 14]/Resources<</Font<</F 3 0 R>>>>/Length ${appearance.length}>>\nstream\n${appearance}\nendstream`,
    ],
  })

  assert.match(await read(bytes), /^Sum:\s+1,250\.00 EUR$/)
})

test('reads a page of filled fields only, and a page with typed text', async () => {
  const field = '/FT/Tx/T(name)/Rect[120 697 260 711]/V(Ada Lovelace)'
  assert.equal(await read(formOf('', [field])), 'Ada Lovelace')
  const typed = buildPdf([drawLines(['Dear sirs,'])], '', {
    page: '/Annots[<</Type/Annot/Subtype/FreeText/Rect[72 690 300 704]/Contents(I resign.)/DA(/F 10 Tf 0 g)>>]',
  })
  assert.match(await read(typed), /^Dear sirs,\s+I resign\.$/)
})

test('an empty form gives only its labels', async () => {
  const { text, warnings } = await parsePdf(
    formOf(drawLines(['Name:']), ['/FT/Tx/T(name)/Rect[120 697 260 711]']),
  )
  assert.deepEqual([text, warnings], ['Name:', []])
})

const rowsOf: [string, string[]][] = [
  [
    'of a statement',
    ['2026-01-02 Card payment 1001 EUR 11.01', '2026-01-03 Card payment 1002 EUR 12.02'],
  ],
  [
    'that begin with dates',
    ['02.01.2026 Rent for January, flat 3', '03.01.2026 Bread, milk and cheese'],
  ],
  ['of numbers', ['12 144 204', '13 169 221', '14 196 238']],
  ['of a list', ['Oats, rolled', 'Barley and rye', 'Spelt', 'Wheat from the north of the country']],
]
for (const [title, rows] of rowsOf) {
  test(`keeps rows as lines: ${title}`, async () =>
    assert.equal(await read(buildPdf([drawLines(rows)])), rows.join('\n')))
}

test('joins wrapped lines, also when a line starts with a year', async () => {
  const lines = [
    'The lighthouse of the harbour was built by Hilda Marsh in the year',
    '1871 and burned down.',
  ]
  assert.equal(await read(buildPdf([drawLines(lines)])), lines.join(' '))
})

test('a table continues over the page’s end even when text follows it', async () => {
  const row = (texts: string[], y: number) =>
    texts.map((text, i) => drawLines([text], { x: 200 + i * 110, y })).join('\n')
  const items = Array.from({ length: 8 }, (_, i) => [`A${i}`, `Article ${i}`, `${i}.00`])
  const page = (rows: string[][]) => rows.map((cells, i) => row(cells, 720 - i * 14)).join('\n')
  const first = page([['Article', 'Text', 'Price'], ...items.slice(0, 5)])
  const second = [
    page(items.slice(5)),
    drawLines(['Terms', 'Pay within 30 days.'], { x: 60, y: 660, step: 20 }),
  ].join('\n')

  assert.equal(
    await read(buildPdf([first, second])),
    [
      '| Article | Text | Price |',
      '| --- | --- | --- |',
      ...items.map((cells) => `| ${cells.join(' | ')} |`),
      '',
      'Terms\nPay within 30 days.',
    ].join('\n'),
  )
})

const notTables: [string, string][] = [
  [
    'prose in two columns that is drawn line by line',
    Array.from({ length: 12 }, (_, i) =>
      [72, 330].map((x) =>
        drawLines([`Line ${i} of column ${x} goes on about the sea and`], { x, y: 700 - i * 14 }),
      ),
    )
      .flat()
      .join('\n'),
  ],
  [
    'a numbered list',
    Array.from({ length: 8 }, (_, i) => [
      drawLines([`${i + 1}.`], { x: 72, y: 700 - i * 14 }),
      drawLines([`Entry ${i} of the list`], { x: 110, y: 700 - i * 14 }),
    ])
      .flat()
      .join('\n'),
  ],
  [
    'labels and what they name',
    ['Customer', 'Order', 'Place', 'Payment', 'Remark']
      .flatMap((label, i) => [
        drawLines([label], { x: 72, y: 700 - i * 14 }),
        drawLines([`of ${'ABCDE'[i]} and others`], { x: 200, y: 700 - i * 14 }),
      ])
      .join('\n'),
  ],
]
for (const [title, page] of notTables) {
  test(`does not read as a table: ${title}`, async () =>
    assert.doesNotMatch(await read(buildPdf([page])), /\|/))
}

test('large text is no heading when it ends like a sentence, is long or is no word', async () => {
  const large = (text: string, y: number) => `BT /F 20 Tf 72 ${y} Td (${text}) Tj ET`
  const body = drawLines(
    Array.from(
      { length: 20 },
      (_, i) => `Line ${i} of the text, which is set smaller than the rest.`,
    ),
    { y: 600 },
  )
  const page = [
    large('1,250.00', 760),
    large('It ends with a stop.', 730),
    large('and begins small', 700),
    large('A title', 660),
    body,
  ]
  const { outline } = await parsePdf(buildPdf([page.join('\n')]))
  assert.deepEqual(
    outline?.headings?.map(({ title }) => title),
    ['A title'],
  )
})

test('form values on a turned page follow their labels', async () => {
  const labels = [
    '0 1 -1 0 100 72 Tm (Name:)',
    '0 1 -1 0 130 72 Tm (City:)',
    '0 1 -1 0 160 72 Tm (Signed at the office.)',
  ]
  const fields = ['/T(n)/V(AdaL)/Rect[90 130 102 300]', '/T(c)/V(Paris)/Rect[120 130 132 300]']
  const refs = fields.map((_, i) => `${freeNumber(1) + i} 0 R`).join(' ')
  const bytes = buildPdf([labels.map((label) => `BT /F 10 Tf ${label} Tj ET`).join('\n')], '', {
    catalogue: `/AcroForm<</Fields[${refs}]>>`,
    page: `/Rotate 90/Annots[${refs}]`,
    objects: fields.map(
      (field) => `<</Type/Annot/Subtype/Widget/FT/Tx${field}/MK<</R 90>>/DA(/F 10 Tf 0 g)>>`,
    ),
  })
  const { text } = await parsePdf(bytes)
  assert.match(text, /Name:\s+AdaL\s+City:\s+Paris\s+Signed/)
})

/** Draws text on one line, one part after another: `raise` in points. */
function drawnRow(parts: { text: string; x: number; size?: number; raise?: number }[]): string {
  return parts
    .map(({ text, x, size = 12, raise = 0 }) => {
      const shown = text.replace(/[()\\]/g, '\\$&')
      return `BT /M ${size} Tf ${raise} Ts ${x} 700 Td (${shown}) Tj ET`
    })
    .join('\n')
}

test('marks exponents, indices and chemical formulas by size and baseline', async () => {
  // A letter of the font M is six tenths of its size wide.
  const page = drawnRow([
    { text: 'about 10', x: 72 },
    { text: '12', x: 129.6, size: 8, raise: 4 },
    { text: ' m of H', x: 139.2 },
    { text: '2', x: 189.6, size: 8, raise: -2 },
    { text: 'O and x', x: 194.4 },
    { text: 'n+1', x: 244.8, size: 8, raise: -2 },
    { text: 'y', x: 259.2 },
  ])
  assert.equal(await read(buildPdf([page])), 'about 10^12 m of H₂O and x_(n+1)y')
})

test('keeps ordinals, marks of notes and small text on the baseline', async () => {
  const page = drawnRow([
    { text: 'the 1', x: 72 },
    { text: 'st', x: 108, size: 8, raise: 4 },
    { text: ' wage', x: 117.6 },
    { text: '[3]', x: 153.6, size: 8, raise: 4 },
    { text: ' of N', x: 168 },
    { text: 'ATO', x: 204, size: 9 },
  ])
  assert.equal(await read(buildPdf([page])), 'the 1st wage[3] of NATO')
  const note = drawnRow([
    { text: '4', x: 72, size: 8, raise: 4 },
    { text: 'See below', x: 78 },
  ])
  assert.match(await read(buildPdf([note])), /^4 ?See below$/)
  const dropCap = drawnRow([
    { text: 'W', x: 72, size: 24 },
    { text: 'hen the ship came in', x: 86.4, raise: 8 },
  ])
  assert.match(await read(buildPdf([dropCap])), /^W ?hen the ship came in$/)
})
