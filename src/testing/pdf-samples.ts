/**
 * Typical PDFs (statements, invoices, logs, slides, papers, forms), drawn here so that the correct
 * text is known exactly: ordered lines, headings, table heads. Tests and the bench read them.
 */
import { freeNumber, pdfOf } from '#rag/ingest/parsers/samples.ts'

export type Drawn = { text: string; x: number; y: number; size?: number; font?: 'F' | 'B' | 'M' }

export type PdfSample = {
  name: string
  /** The drawn texts of each page, in order. */
  pages: Drawn[][]
  /** Paths of headings, in their order; those of chunks are among them. */
  headings: string[]
  /** The heads of tables, as Markdown. */
  tables: string[]
  /** Running heads and feet, which are left out. */
  running?: (page: number) => Drawn[]
  bookmarks?: { title: string; page: number }[]
}

export function renderPdf({ pages, running, bookmarks = [] }: PdfSample): Uint8Array {
  const streams = pages.map((page, i) =>
    [...(running?.(i + 1) ?? []), ...page].map(show).join('\n'),
  )
  const free = freeNumber(pages.length)
  const items = bookmarks.map(({ title, page }, i) => {
    const next = i + 1 < bookmarks.length ? `/Next ${free + i + 2} 0 R` : ''
    return `<</Title(${escaped(title)})/Parent ${free} 0 R/Dest[${4 + (page - 1) * 2} 0 R/Fit]${next}>>`
  })
  const objects = [`<</First ${free + 1} 0 R/Last ${free + items.length} 0 R>>`, ...items]
  return items.length === 0
    ? pdfOf(streams)
    : pdfOf(streams, '', { catalogue: `/Outlines ${free} 0 R`, objects })
}

function show({ text, x, y, size = 10, font = 'F' }: Drawn): string {
  return `BT /${font} ${size} Tf ${x.toFixed(2)} ${y.toFixed(2)} Td (${escaped(text)}) Tj ET`
}

function escaped(text: string): string {
  return text.replace(/[()\\]/g, '\\$&')
}

/** Of Helvetica, near enough to set a number flush right. */
function measureWidth(text: string, size: number): number {
  return (
    [...text].reduce(
      (sum, c) => sum + (/[.,:;| il]/.test(c) ? 0.278 : /[A-Z€]/.test(c) ? 0.68 : 0.556),
      0,
    ) * size
  )
}

const at = (text: string, x: number, y: number, style: Partial<Drawn> = {}): Drawn => ({
  text,
  x,
  y,
  ...style,
})
const right = (text: string, end: number, y: number, style: Partial<Drawn> = {}): Drawn =>
  at(text, end - measureWidth(text, style.size ?? 10), y, style)

/** Lines of text, one under the other. */
const lines = (
  texts: string[],
  y: number,
  { x = 72, step = 12, ...style }: Partial<Drawn & { step: number }> = {},
) => texts.map((text, i) => at(text, x, y - i * step, style))

type Column = { x: number; isRight?: boolean }

/** Rows of a table, the first one its head. */
function table(
  columns: Column[],
  rows: string[][],
  y: number,
  {
    step = 14,
    head = {} as Partial<Drawn>,
    ...style
  }: Partial<Drawn> & { step?: number; head?: Partial<Drawn> } = {},
): Drawn[] {
  return rows.flatMap((row, i) =>
    row.flatMap((text, n) => {
      const { x, isRight } = columns[n] as Column
      const set = { ...style, ...(i === 0 ? head : {}) }
      return text === '' ? [] : [(isRight ? right : at)(text, x, y - i * step, set)]
    }),
  )
}

const range = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i))
const BOLD = { font: 'B' } as const
const euros = (cents: number) =>
  `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`

/** Sentences about a matter, one a line, of about the width of a page. */
const prose = (matter: string, count: number, from = 1) =>
  range(
    count,
    (i) =>
      `Sentence ${from + i} about ${matter} tells what was seen, what was done and what came of it.`,
  )

const statement = (): PdfSample => {
  const columns = [{ x: 72 }, { x: 150 }, { x: 430, isRight: true }, { x: 530, isRight: true }]
  const head = ['Date', 'Text', 'Amount', 'Balance']
  const row = (i: number) => [
    `2026-03-${String((i % 28) + 1).padStart(2, '0')}`,
    i % 5 === 0 ? `Salary of month ${i}` : `Card payment no ${4_100 + i}`,
    i % 5 === 0 ? '2400.00' : `-${euros(1_250 + i * 37)}`,
    euros(320_000 + i * 113),
  ]
  return {
    name: 'bank statement',
    pages: [
      [
        at('Statement of account', 72, 740, { size: 18, font: 'B' }),
        ...lines(['Account holder: Ada Example', 'IBAN DE02 1203 0000 0000 2020 51'], 712, {
          step: 16,
        }),
        ...table(columns, [head, ...range(24, row)], 660, { head: BOLD, step: 18 }),
      ],
      table(columns, [head, ...range(24, (i) => row(i + 24))], 740, { head: BOLD, step: 18 }),
    ],
    headings: ['Statement of account'],
    tables: ['| Date | Text | Amount | Balance |', '| Date | Text | Amount | Balance |'],
  }
}

const longTable = (): PdfSample => {
  const columns = [{ x: 72 }, { x: 170 }, { x: 420, isRight: true }]
  const row = (i: number) => [
    `Part ${'ABCDEFGH'[i % 8]}${i}`,
    `Bracket of type ${i}`,
    euros(900 + i * 21),
  ]
  return {
    name: 'price list whose table goes on without its head',
    pages: [
      [
        at('Price list', 72, 740, { size: 16 }),
        ...table(columns, [['Article', 'Description', 'Price'], ...range(30, row)], 700, {
          step: 20,
        }),
      ],
      table(
        columns,
        range(30, (i) => row(i + 30)),
        740,
        { step: 20 },
      ),
    ],
    headings: ['Price list'],
    tables: ['| Article | Description | Price |'],
  }
}

const invoice = (): PdfSample => ({
  name: 'invoice',
  pages: [
    [
      at('Example Works Ltd', 72, 760, { size: 11, font: 'B' }),
      ...lines(['12 Harbour Street', '20095 Hamburg'], 745, { step: 13 }),
      at('Invoice 2026-0117', 72, 690, { size: 20, font: 'B' }),
      ...lines(['Customer: Bob Example', 'Due on 1 April 2026'], 665, { step: 15 }),
      ...table(
        [
          { x: 72 },
          { x: 330, isRight: true },
          { x: 430, isRight: true },
          { x: 530, isRight: true },
        ],
        [
          ['Description', 'Quantity', 'Price', 'Sum'],
          ['Oak board', '4', '12.50', '50.00'],
          ['planed on both sides', '', '', ''],
          ['Brass screw', '120', '0.08', '9.60'],
          ['Delivery', '1', '15.00', '15.00'],
        ],
        620,
        { head: BOLD },
      ),
      ...lines(
        ['Please transfer the amount of 74.60 euros within 14 days.', 'Thank you for your order.'],
        500,
      ),
    ],
  ],
  headings: ['Example Works Ltd', 'Invoice 2026-0117'],
  tables: ['| Description | Quantity | Price | Sum |'],
})

const log = (): PdfSample => ({
  name: 'log of a server',
  pages: range(3, (page) =>
    lines(
      range(50, (i) => {
        const second = page * 50 + i
        return `2026-04-02T08:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z ${['INFO', 'WARN', 'ERROR'][i % 3]} worker-${i % 4} request ${7_000 + second} took ${second * 3} ms`
      }),
      760,
      { font: 'M', size: 9, step: 13 },
    ),
  ),
  headings: [],
  tables: [],
})

const slides = (): PdfSample => ({
  name: 'slides',
  pages: ['Why boats float', 'Hulls', 'Sails', 'Questions'].map((title, i) => [
    at(title, 72, 700, { size: 28 }),
    ...lines(
      range(4, (n) => `- Point ${n + 1} of slide ${i + 1} is about the sea`),
      620,
      { size: 18, step: 40 },
    ),
  ]),
  headings: ['Why boats float', 'Hulls', 'Sails', 'Questions'],
  tables: [],
})

const paper = (): PdfSample => ({
  name: 'paper in two columns',
  pages: [
    [
      at('Tides in narrow harbours', 170, 740, { size: 18, font: 'B' }),
      ...lines(['We measured the tides of nine narrow harbours for a year.'], 700),
      at('1 Introduction', 72, 660, { size: 12, font: 'B' }),
      ...range(20, (i) => at(`Left line ${i + 1} speaks of moon and water.`, 72, 640 - i * 12)),
      at('2 Method', 320, 660, { size: 12, font: 'B' }),
      ...range(10, (i) => at(`Right line ${i + 1} speaks of gauges and time.`, 320, 640 - i * 12)),
      at('2.1 Gauges', 320, 500, { size: 12, font: 'B' }),
      ...range(6, (i) => at(`Lower line ${i + 1} speaks of brass and glass.`, 320, 480 - i * 12)),
    ],
    [
      at('3 Results', 72, 740, { size: 12, font: 'B' }),
      ...lines(prose('the results', 8), 720),
      ...table(
        [{ x: 72 }, { x: 230, isRight: true }, { x: 330, isRight: true }],
        [
          ['Harbour', 'Mean', 'Highest'],
          ['Porto Calvo', '1.42', '2.31'],
          ['Sand Bay', '0.97', '1.80'],
          ['North Quay', '1.11', '2.05'],
        ],
        590,
      ),
      at('4 Conclusion', 72, 510, { size: 12, font: 'B' }),
      ...lines(prose('the conclusion', 4), 490),
    ],
  ],
  headings: [
    'Tides in narrow harbours',
    'Tides in narrow harbours › 1 Introduction',
    'Tides in narrow harbours › 2 Method',
    'Tides in narrow harbours › 2 Method › 2.1 Gauges',
    'Tides in narrow harbours › 3 Results',
    'Tides in narrow harbours › 4 Conclusion',
  ],
  tables: ['| Harbour | Mean | Highest |'],
})

const contract = (): PdfSample => ({
  name: 'contract with bold headings of the text’s size',
  pages: range(2, (page) =>
    range(3, (i) => {
      const n = page * 3 + i + 1
      const y = 740 - i * 200
      return [
        at(`${n}. ${'Term Rent Deposit Notice Repairs Pets'.split(' ')[n - 1]}`, 72, y, BOLD),
      ].concat(lines(prose(`clause ${n}`, 9), y - 24))
    }).flat(),
  ),
  headings: ['1. Term', '2. Rent', '3. Deposit', '4. Notice', '5. Repairs', '6. Pets'],
  tables: [],
})

const bookmarked = (): PdfSample => ({
  name: 'manual whose headings only its bookmarks tell',
  pages: ['Unpacking', 'First start', 'Care'].map((title, i) => [
    at(title, 72, 740),
    ...lines(prose(`step ${i + 1}`, 12), 712),
  ]),
  bookmarks: [
    { title: '1. Unpacking', page: 1 },
    { title: 'First start', page: 2 },
    { title: 'Care', page: 3 },
  ],
  headings: ['Unpacking', 'First start', 'Care'],
  tables: [],
})

const laboratory = (): PdfSample => ({
  name: 'laboratory results',
  pages: range(4, (page) => [
    ...table(
      [{ x: 72 }, { x: 240, isRight: true }, { x: 340, isRight: true }, { x: 400 }],
      [
        ['Sample', 'pH', 'Temperature', 'Remark'],
        ...range(20, (i) => [
          `S-${page * 20 + i + 101}`,
          `7.${i % 10}`,
          `${18 + (i % 5)}.${page}`,
          i % 4 === 0 ? 'turbid' : 'clear',
        ]),
      ],
      740,
      { step: 24 },
    ),
    at(`Signed by examiner ${'ABCD'[page]}.`, 72, 200),
  ]),
  headings: [],
  tables: range(4, () => '| Sample | pH | Temperature | Remark |'),
})

const payslip = (): PdfSample => ({
  name: 'payslip of labels and amounts',
  pages: [
    [
      at('Payslip March 2026', 72, 740, { size: 15, font: 'B' }),
      ...table(
        [{ x: 72 }, { x: 400, isRight: true }],
        [
          ['Item', 'Euros'],
          ['Gross salary', '4200.00'],
          ['Income tax', '-812.40'],
          ['Health insurance', '-344.10'],
          ['Pension', '-390.60'],
          ['Net salary', '2652.90'],
        ],
        700,
      ),
    ],
  ],
  headings: ['Payslip March 2026'],
  tables: ['| Item | Euros |'],
})

const contents = (): PdfSample => ({
  name: 'book with contents, lists and running lines',
  pages: [
    lines(
      ['Contents', ...range(6, (i) => `Chapter ${i + 1} ${'.'.repeat(60)} ${i * 2 + 3}`)],
      740,
      { step: 18 },
    ),
    ...range(5, (i) => [
      ...lines(prose(`chapter ${'ABCDE'[i]}`, 30), 730),
      ...range(4, (n) => [
        at('-', 72, 340 - n * 14),
        at(`Entry ${n + 1} of the list of part ${i + 1}`, 92, 340 - n * 14),
      ]).flat(),
    ]),
  ],
  running: (page) => [
    at('A book of boats', 250, 775, { size: 8 }),
    at(`Page ${page}`, 280, 30, { size: 8 }),
  ],
  headings: [],
  tables: [],
})

const timetable = (): PdfSample => ({
  name: 'timetable with empty cells',
  pages: [
    [
      at('Ferry timetable', 72, 740, { size: 16 }),
      ...table(
        [{ x: 72 }, { x: 200 }, { x: 290 }, { x: 380 }],
        [
          ['Stop', 'Morning', 'Noon', 'Evening'],
          ['Harbour', '08:10', '12:10', '18:10'],
          ['Sand Bay', '08:35', '', '18:35'],
          ['Lighthouse', '08:50', '12:50', ''],
          ['North Quay', '09:15', '13:15', '19:15'],
        ],
        700,
        { step: 16 },
      ),
      ...lines(prose('the ferry', 6), 590),
    ],
  ],
  headings: ['Ferry timetable'],
  tables: ['| Stop | Morning | Noon | Evening |'],
})

const letter = (): PdfSample => ({
  name: 'letter with an address, a date and no heading',
  pages: [
    [
      ...lines(['Ada Example', '12 Harbour Street', '20095 Hamburg'], 740),
      right('Hamburg, 3 May 2026', 530, 690),
      ...lines(['Dear Bob,'], 650),
      ...lines(prose('the journey', 10), 626),
      ...lines(['Yours', 'Ada'], 480, { step: 20 }),
    ],
  ],
  headings: [],
  tables: [],
})

const serials = (): PdfSample => ({
  name: 'numbers alone, two columns of them',
  pages: range(4, (page) =>
    range(40, (i) => [
      at(`SN ${40_000 + page * 80 + i * 2}`, 72, 750 - i * 17),
      at(`${90_001 + page * 80 + i}`, 300, 750 - i * 17),
    ]).flat(),
  ),
  headings: [],
  tables: [],
})

const receipt = (): PdfSample => ({
  name: 'receipt of one width',
  pages: [
    lines(
      [
        'BAKERY AT THE QUAY',
        'Rye bread            1 x  4.20       4.20',
        'Croissant            3 x  1.60       4.80',
        'Coffee               2 x  2.90       5.80',
        'TOTAL EUR                           14.80',
        'Paid by card, thank you.',
      ],
      740,
      { font: 'M', step: 14 },
    ),
  ],
  headings: [],
  tables: [],
})

export function pdfSamples(): PdfSample[] {
  return [
    statement(),
    longTable(),
    invoice(),
    log(),
    slides(),
    paper(),
    contract(),
    bookmarked(),
    laboratory(),
    payslip(),
    contents(),
    timetable(),
    letter(),
    serials(),
    receipt(),
  ]
}
