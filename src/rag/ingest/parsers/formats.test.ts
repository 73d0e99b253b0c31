import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildDocx, buildZip, paragraph } from '#testing/office-samples.ts'
import type { Outline } from '../outline.ts'
import { parseCsv } from './csv.ts'
import { parseDocx } from './docx.ts'
import { parseEpub } from './epub.ts'
import { parseHtml } from './html.ts'
import { parsePptx } from './pptx.ts'
import { Unreadable } from './unreadable.ts'
import { parseXlsx } from './xlsx.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const html = async (text: string) => (await parseHtml(bytes(text))).text
const csv = async (text: string) => (await parseCsv(bytes(text))).text

test('a web page gives headings, lists, tables and code, and leaves out invisible content', async () => {
  const page = `<!doctype html><html><head><title>Bees &amp; honey</title><style>p { color: red }</style>
    <script>if (1 < 2) document.write('<p>gone</p>')</script></head><body>
    <h1>Bees</h1><p>They   make <b>hon</b>ey&nbsp;&ndash; 5&euro;, caf&eacute; &unknown; &lt;b&gt;.<br>A second line.
    <ul><li>one<li><p>two</p><ol><li>inner</ol></ul>
    <table><tr><th>Name<th>Price</tr><tr><td>A|B<td>1 &times; 2</tr></table>
    <pre>let a = 1
  let b = 2</pre><noscript>gone</noscript><textarea>gone</textarea><img src=x onerror=alert(1)><h2>Last</h2>end`
  const { text, warnings } = await parseHtml(bytes(page))
  assert.equal(
    text,
    [
      '# Bees',
      'They make honey – 5€, café &unknown; <b>.\nA second line.',
      '- one\n- two\n  1. inner',
      '| Name | Price |\n| --- | --- |\n| A\\|B | 1 × 2 |',
      '```\nlet a = 1\n  let b = 2\n```',
      '## Last',
      'end',
    ].join('\n\n'),
  )
  assert.match(warnings[0]?.reason ?? '', /Pictures/)
})

test('tables of a web page keep their columns without end tags and with spanning cells', async () => {
  assert.equal(
    await html('<table><tr><th>Name<th>Age<tr><td>Ann<td>30<tr><td>Bob<td>40</table>'),
    '| Name | Age |\n| --- | --- |\n| Ann | 30 |\n| Bob | 40 |',
  )
  assert.equal(
    await html(
      `<table><tr><th>Region<th>City<th>Sum<tr><td rowspan="2">North<td>Kiel<td>1<tr><td>Lund<td>2
       <tr><td colspan=2>All<td>3</table>`,
    ),
    '| Region | City | Sum |\n| --- | --- | --- |\n| North | Kiel | 1 |\n|  | Lund | 2 |\n| All |  | 3 |',
  )
})

test('cells of a web page span only their own group, and a table of single cells is layout', async () => {
  assert.equal(
    await html(
      '<table><thead><tr><th rowspan=5>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
    ),
    '| A | B |\n| --- | --- |\n| 1 | 2 |',
  )
  assert.equal(
    await html('<table><tr><td rowspan=0>A<td>B<tr><td>C<tr><td>D<tbody><tr><td>1<td>2</table>'),
    '| A | B |\n| --- | --- |\n|  | C |\n|  | D |\n| 1 | 2 |',
  )
  assert.equal(
    await html(
      '<table><tr><td colspan=2><p>One long paragraph.</p></td></tr><tr><td></td><td>Two.</td></tr></table>',
    ),
    'One long paragraph.\n\nTwo.',
  )
})

test('cells of a web page with huge spans do not fill the memory', async () => {
  const rows = '<tr><td colspan=1000 rowspan=1000>a'.repeat(3_000)
  assert.ok((await html(`<table>${rows}</table>`)).length < 20_000_000)
})

test('reads a web page without the tags that HTML makes optional', async () => {
  for (const page of [
    '<!DOCTYPE html><html><head><title>R</title><body><h1>Report</h1><p>Revenue was 12 million.</p></body></html>',
    '<!DOCTYPE html><title>R</title><h1>Report</h1><p>Revenue was 12 million.',
    '<head><meta charset=utf-8><title>R</title><h1>Report</h1>Revenue was 12 million.',
    '<html><head><title>R</title><style>p{}</style><body><h1>Report</h1><select><optgroup><option></select>Revenue was 12 million.',
  ])
    assert.equal(await html(page), '# Report\n\nRevenue was 12 million.')
})

test('unclosed inline elements of a web page leave no list or table open', async () => {
  assert.equal(await html('<ul><li><b>one<li><i>two</ul>end'), '- one\n- two\n\nend')
  assert.equal(
    await html('<table><tr><td><font>a<td><p>b<tr><td><font>c<td>d</table>'),
    '| a | b |\n| --- | --- |\n| c | d |',
  )
})

test('XHTML may close an element in its start tag, in a namespace', async () => {
  const page =
    '<?xml version="1.0"?><h:html><h:head><h:title/></h:head><h:p>one<h:script/></h:p><![CDATA[a < b]]></h:html>'
  assert.equal((await parseHtml(bytes(page), 'xhtml')).text, 'one\n\na < b')
})

test('reads a web page in its declared encoding', async () => {
  const said = '<meta charset="windows-1251"><p>'
  const cyrillic = Buffer.concat([
    Buffer.from(said),
    Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  ])
  assert.equal((await parseHtml(cyrillic)).text, 'Привет')
  assert.equal(await html('<meta charset="utf-8"><p>日本'), '日本')
})

test('reads markup without an end once, in linear time', async () => {
  for (const part of [
    '<script>',
    '<table><tr><td>',
    '<ul><li>',
    '<',
    '<!--',
    '<p title="',
    '&#x41;',
    '</td>',
    '<style><script>',
    '<pre>',
  ])
    await html(part.repeat(15_000))
  assert.equal(await html(`<table><td ${'a'.repeat(500_000)}>cell</table>`), 'cell')
  assert.equal(await html('before<script>never'), 'before')
  await assert.rejects(html('<div>'.repeat(200_000)), /nested too deeply/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.constantFrom(
          '<table>',
          '</table>',
          '<tr>',
          '<td>',
          '</td>',
          '<li>',
          '</ul>',
          '<ul>',
          'word',
          '<h2>',
          '</h2>',
          '<pre>',
          '</pre>',
          '<svg>',
          '</svg>',
          '<br>',
        ),
        { maxLength: 60 },
      ),
      async (parts) => void (await html(parts.join(''))),
    ),
  )
})

const XL = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
const relations = (all: Record<string, [string, string]>) =>
  `<Relationships>${Object.entries(all)
    .map(
      ([id, [type, target]]) =>
        `<Relationship Id="${id}" Type="http://schemas/relationships/${type}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`

test('a workbook gives each sheet as a table, with its cells as Office shows them', () => {
  const { text, warnings } = parseXlsx(
    buildZip({
      '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
      'xl/workbook.xml': `<workbook ${XL}><sheets><sheet name="Sales &amp; more" sheetId="1" r:id="r1"/><sheet name="Empty" sheetId="2" r:id="r2"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations({
        r1: ['worksheet', 'worksheets/sheet1.xml'],
        r2: ['worksheet', '/xl/worksheets/sheet2.xml'],
        r3: ['sharedStrings', 'sharedStrings.xml'],
        r4: ['styles', 'styles.xml'],
      }),
      'xl/sharedStrings.xml':
        '<sst><si><t>Date</t></si><si><r><t>Am</t></r><r><t>ount</t></r><rPh><t>x</t></rPh></si></sst>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[Red]yyyy&quot;s&quot;-mm-dd"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs></styleSheet>',
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>
        <row r="1"><c r="B1" t="s"><v>0</v></c><c r="XFD1" t="s"><v>1</v></c></row>
        <row r="3"><c r="B3" s="1"><v>46023</v></c><c r="XFD3"><v>18.010000000000002</v></c></row>
        <row r="4"><c r="B4" s="2"><v>0.07</v></c><c r="XFD4" s="3"><v>3</v></c></row>
        <row r="5"><c r="B5" s="4"><v>46023.5</v></c><c r="XFD5" s="5"><v>0.25</v></c></row>
        <row r="6"><c r="B6" t="b"><v>1</v></c><c r="XFD6" t="inlineStr"><is><t>a|b</t></is></c></row>
        <row r="7"><c r="B7" t="str"><f>A1</f><v>formula</v></c></row></sheetData></worksheet>`,
      'xl/worksheets/sheet2.xml': '<worksheet><sheetData/></worksheet>',
      'xl/comments1.xml': '<c/>',
    }),
  )
  assert.equal(
    text,
    [
      '# Sales & more\n',
      '| Date | Amount |',
      '| --- | --- |',
      '| 2026-01-01 | 18.01 |',
      '| 7% | 3 |',
      '| 2026-01-01 12:00 | 06:00 |',
      '| TRUE | a\\|b |',
      '| formula |  |',
    ].join('\n'),
  )
  assert.deepEqual(warnings, [{ page: null, reason: 'Comments are left out.' }])
})

test('names formulas without stored results as left out', () => {
  const book = (cells: string) =>
    parseXlsx(
      buildZip({
        '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
        'xl/workbook.xml': `<workbook ${XL}><sheets><sheet name="Sums" sheetId="1" r:id="r1"/></sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', 'worksheets/sheet1.xml'] }),
        'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row><c><v>1</v></c>${cells}</row></sheetData></worksheet>`,
      }),
    ).warnings.map(({ reason }) => reason)

  assert.match(
    book('<c><f>A1*2</f><v></v></c><c><f>A1*3</f></c>').join(),
    /^Formulas whose results are not stored/,
  )
  assert.deepEqual(book('<c><f>A1*2</f><v>2</v></c><c t="str"><f>""</f><v></v></c>'), [])
})

test('refuses a package of another kind as a workbook', () => {
  const word = buildDocx(paragraph('text'), {
    '_rels/.rels': relations({ r1: ['officeDocument', 'word/document.xml'] }),
  })
  assert.throws(() => parseXlsx(word), /not an Excel workbook/)
})

test('refuses a workbook of few cells far apart before it builds their table', () => {
  const columns = 16_000
  const letters = (n: number): string =>
    n < 0 ? '' : letters(Math.floor(n / 26) - 1) + String.fromCharCode(65 + (n % 26))
  const cells = Array.from(
    { length: columns },
    (_, n) => `<row><c r="${letters(n)}${n + 1}"><v>1</v></c></row>`,
  )
  const workbook = buildZip({
    '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/workbook.xml': `<workbook ${XL}><sheets><sheet name="Far" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', 'worksheets/sheet1.xml'] }),
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${cells.join('')}</sheetData></worksheet>`,
  })
  const before = process.memoryUsage().heapTotal
  assert.throws(() => parseXlsx(workbook), /more than 5 million cells/)
  assert.ok(process.memoryUsage().heapTotal - before < 500e6)
})

test('a presentation gives its slides as pages in order, with titles, lists, tables and notes', () => {
  const slide = (shapes: string) =>
    `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`
  const shape = (kind: string, ...lines: string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr>${kind && `<p:ph type="${kind}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`
  const { text, outline, warnings } = parsePptx(
    buildZip({
      '_rels/.rels': relations({ r1: ['officeDocument', 'ppt/presentation.xml'] }),
      'ppt/presentation.xml': `<p:presentation ${XL}><p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': relations({
        r1: ['slide', 'slides/slide1.xml'],
        r2: ['slide', 'slides/slide2.xml'],
      }),
      'ppt/slides/slide2.xml': slide(
        shape('', 'Beside') +
          shape('title', 'Agenda') +
          shape('body', 'One', 'Two') +
          shape('sldNum', '1'),
      ),
      'ppt/slides/slide1.xml': slide(
        '<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Q</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:p><a:r><a:t>EUR</a:t></a:r></a:p></a:tc></a:tr><a:tr><a:tc><a:p><a:r><a:t>1</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>9</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>',
      ),
      'ppt/slides/_rels/slide1.xml.rels': relations({
        r1: ['notesSlide', '../notesSlides/n1.xml'],
        r2: ['image', '../media/a.png'],
      }),
      'ppt/notesSlides/n1.xml': slide(shape('body', 'Say it slowly.') + shape('sldNum', '2')),
    }),
  )
  assert.equal(
    text,
    '# Agenda\n\nBeside\n\n- One\n- Two\n\n| Q | EUR |\n| --- | --- |\n| 1 | 9 |\n\nNotes: Say it slowly.',
  )
  const pages = (outline as Outline).pages ?? []
  assert.deepEqual(
    pages.map(({ at, page }) => [page, text.slice(at, at + 8)]),
    [
      [1, '# Agenda'],
      [2, '| Q | EU'],
    ],
  )
  assert.deepEqual(warnings, [
    { page: 2, reason: 'Pictures are left out: text in them is not read.' },
  ])
})

test('a book gives its chapters in the order of its spine', () => {
  const book = {
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    'OEBPS/book.opf':
      '<package><manifest><item id="b" href="b.xhtml"/><item id="a" href="text/a%20one.xhtml"/><item id="c" href="../../../etc/passwd"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>',
    'OEBPS/text/a one.xhtml':
      '<html><head><title>x</title></head><body><h1>First</h1><p>It began.</p></body></html>',
    'OEBPS/b.xhtml': '<html><body><h1>Second</h1><p>It ended.</p></body></html>',
  }
  const { text, warnings } = parseEpub(buildZip(book))
  assert.equal(text, '# First\n\nIt began.\n\n# Second\n\nIt ended.')
  assert.match(warnings[0]?.reason ?? '', /A chapter is missing: etc\/passwd/)
  assert.throws(() => parseEpub(buildZip({ ...book, 'META-INF/rights.xml': '<r/>' })), /DRM/)
})

test('comma-separated values become a table; other text stays unchanged', async () => {
  const table = '| Name | Price |\n| --- | --- |\n| a, "b" | 1 |\n| two lines | 2 |'
  assert.equal(await csv('Name,Price\r\n"a, ""b""",1\r\n\r\n"two\nlines",2\r\n'), table)
  assert.equal(await csv('Name;Price\n"a, ""b""";1\n"two\nlines";2'), table)
  assert.equal(await csv('Name\tPrice\n"a, ""b"""\t1\n"two\nlines"\t2\n'), table)
  for (const text of [
    'one line, only',
    'A letter,\nwith commas, here, and, there\nand none.\n',
    '"never ended',
    'a\nb\nc',
  ])
    assert.equal(await csv(text), text)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.stringMatching(/^[a-z ,;"\n]{1,9}$/), fc.stringMatching(/^[0-9]{1,4}$/)),
        { minLength: 2, maxLength: 20 },
      ),
      async (rows) => {
        const quoted = rows
          .map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
          .join('\n')
        const written = await csv(`name,count\n${quoted}`)
        for (const [name, count] of rows) {
          const cell = name.replace(/\s+/g, ' ').trim()
          assert.ok(
            written.includes(`| ${cell} | ${count} |`),
            `${JSON.stringify(rows)}\n${written}`,
          )
        }
      },
    ),
  )
})

test('a table may have more rows than a call may have arguments', async () => {
  const rows = 300_000
  const text = await csv(`a,b\n${'1,2\n'.repeat(rows)}`)
  assert.equal(text.length, '| a | b |\n| --- | --- |'.length + rows * '\n| 1 | 2 |'.length)
})

test('refuses a package of another kind with a reason', () => {
  for (const [parse, wrong] of [
    [parseXlsx, buildDocx('')],
    [parsePptx, buildZip({ a: 'b' })],
    [parseEpub, buildZip({ a: 'b' })],
  ] as const)
    assert.throws(() => parse(wrong), Unreadable)
})

const point = (i: number, value: string) => `<c:pt idx="${i}"><c:v>${value}</c:v></c:pt>`
const cache = (name: string, values: string[], format = '') =>
  `<c:${name}><c:ref><c:cache><c:formatCode>${format}</c:formatCode>${values.map((value, i) => point(i, value)).join('')}</c:cache></c:ref></c:${name}>`
const series = (name: string, values: string[]) =>
  `<c:ser>${cache('tx', [name])}${cache('cat', ['Q1', 'Q2'])}${cache('val', values, '0%')}</c:ser>`
const chart = `<c:chartSpace><c:title><a:p><a:r><a:t>Share of sales</a:t></a:r></a:p></c:title><c:plotArea>${series('North', ['0.25', '0.5'])}${series('South', ['0.75'])}</c:plotArea></c:chartSpace>`
const CHART =
  'Chart: Share of sales\n\n|  | North | South |\n| --- | --- | --- |\n| Q1 | 25% | 75% |\n| Q2 | 50% |  |'
const shown = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
const diagram = `<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t>${shown('Plan')}</dgm:t></dgm:pt><dgm:pt><dgm:t>${shown('Build')}</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
const frame = (content: string) => `<p:graphicFrame>${content}</p:graphicFrame>`

test('reads the charts and diagrams of a presentation', () => {
  const { text, warnings } = parsePptx(
    buildZip({
      'ppt/presentation.xml': '<p:sldId id="1" r:id="r1"/>',
      'ppt/_rels/presentation.xml.rels': relations({ r1: ['slide', 'a.xml'] }),
      'ppt/a.xml': `${frame('<c:chart r:id="r1"/>')}${frame('<dgm:relIds r:dm="r2"/>')}${frame('<cx:chart r:id="r3"/>')}`,
      'ppt/_rels/a.xml.rels': relations({
        r1: ['chart', 'chart.xml'],
        r2: ['diagramData', 'data.xml'],
        r3: ['chartEx', 'x.xml'],
      }),
      'ppt/chart.xml': chart,
      'ppt/data.xml': diagram,
      'ppt/x.xml': '<x/>',
    }),
  )
  assert.equal(text, `${CHART}\n\nPlan\nBuild`)
  assert.deepEqual(warnings, [{ page: 1, reason: 'Charts are left out.' }])
})

test('charts, diagrams and text boxes of a Word document keep their places', () => {
  const box = `<mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent>${paragraph('In a box')}</w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><w:txbxContent>${paragraph('In a box')}</w:txbxContent></mc:Fallback></mc:AlternateContent>`
  const { text, warnings } = parseDocx(
    buildDocx(
      `${paragraph('Before')}<w:p><w:r><w:drawing><c:chart r:id="r1"/></w:drawing></w:r></w:p><w:p><w:r><w:drawing><dgm:relIds r:dm="r2"/></w:drawing></w:r></w:p><w:p><w:r>${box}</w:r></w:p>${paragraph('After')}`,
      {
        'word/_rels/document.xml.rels': relations({
          r1: ['chart', 'c.xml'],
          r2: ['diagramData', 'd.xml'],
        }),
        'word/c.xml': chart,
        'word/d.xml': diagram,
        'word/_rels/c.xml.rels': relations({ r1: ['package', 'embeddings/book.xlsx'] }),
        'word/embeddings/book.xlsx': 'x',
      },
    ),
  )
  assert.equal(text, `Before\n\n${CHART}\n\nPlan\nBuild\n\nIn a box\n\nAfter`)
  assert.deepEqual(warnings, [])
})

test('reads text boxes, diagrams and chart texts of a workbook, also without cells', () => {
  const shape = (text: string) => `<xdr:sp><xdr:txBody>${shown(text)}</xdr:txBody></xdr:sp>`
  const { text, warnings } = parseXlsx(
    buildZip({
      'xl/workbook.xml': `<workbook ${XL}><sheets><sheet name="Notes" r:id="r1"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', 'worksheets/s.xml'] }),
      'xl/worksheets/s.xml': '<worksheet><sheetData/><drawing r:id="r1"/></worksheet>',
      'xl/worksheets/_rels/s.xml.rels': relations({ r1: ['drawing', '../drawings/d.xml'] }),
      'xl/drawings/d.xml': `<xdr:wsDr>${shape('Disclaimer')}<mc:AlternateContent><mc:Choice>${shape('All rights reserved')}</mc:Choice><mc:Fallback>${shape('gone')}</mc:Fallback></mc:AlternateContent><xdr:graphicFrame><c:chart r:id="r1"/></xdr:graphicFrame><xdr:graphicFrame><dgm:relIds r:dm="r2"/></xdr:graphicFrame></xdr:wsDr>`,
      'xl/drawings/_rels/d.xml.rels': relations({
        r1: ['chart', 'c.xml'],
        r2: ['diagramData', 'data.xml'],
      }),
      'xl/drawings/c.xml': chart,
      'xl/drawings/data.xml': diagram,
    }),
  )
  assert.equal(
    text,
    '# Notes\n\nDisclaimer\n\nAll rights reserved\n\nChart: Share of sales; North; South\n\nPlan\nBuild',
  )
  assert.deepEqual(warnings, [])
})

test('a chart with huge point indices does not fill the memory', () => {
  const scattered = Array.from(
    { length: 3_000 },
    (_, i) => `<c:ser>${cache('tx', [`s${i}`])}<c:val>${point(i * 1_000_000, '1')}</c:val></c:ser>`,
  )
  const { text, warnings } = parseDocx(
    buildDocx('<w:p><c:chart r:id="r1"/></w:p>', {
      'word/_rels/document.xml.rels': relations({ r1: ['chart', 'c.xml'] }),
      'word/c.xml': `${scattered.join('')}<c:ser><c:val>${point(1, '2').repeat(100_000)}</c:val></c:ser>`,
    }),
  )
  assert.ok(text.length < 1_000_000 && text.includes('s2999'), `${text.length}`)
  assert.match(warnings[0]?.reason ?? '', /beyond the first 100000/)
})
