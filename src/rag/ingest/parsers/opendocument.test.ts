import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildZip } from '#testing/office-samples.ts'
import { parseOpenDocument } from './opendocument.ts'
import { Unreadable } from './unreadable.ts'

const odf = (body: string, more: Record<string, string> = {}, styles = '') =>
  parseOpenDocument(
    buildZip({
      'content.xml': `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
      ...more,
    }),
  )
const text = (body: string, more?: Record<string, string>, styles?: string) =>
  odf(`<office:text>${body}</office:text>`, more, styles).text
const p = (content: string) => `<text:p>${content}</text:p>`
const cell = (content: string, more = '') =>
  `<table:table-cell ${more}>${p(content)}</table:table-cell>`
const row = (cells: string, more = '') => `<table:table-row ${more}>${cells}</table:table-row>`

test('a text gives headings, lists, tables and notes, without deleted text', () => {
  const body = [
    `<text:tracked-changes><text:changed-region><text:deletion>${p('gone')}</text:deletion></text:changed-region></text:tracked-changes>`,
    '<text:h text:outline-level="2">Bees &amp;<text:s text:c="2"/>honey</text:h>',
    p(
      'They make<text:tab/>it.<text:line-break/>A line.<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See there</text:p></text:note-body></text:note>',
    ),
    `<text:list><text:list-item>${p('one')}<text:list><text:list-item>${p('inner')}</text:list-item></text:list></text:list-item><text:list-item>${p('two')}</text:list-item></text:list>`,
    `<table:table table:name="Table1">${row(cell('a') + cell('b'))}${row(`${cell('c', 'table:number-columns-spanned="2"')}<table:covered-table-cell/>`)}</table:table>`,
    p(
      '2·10<text:span text:style-name="T1">3</text:span> of H<text:span text:style-name="T2">2</text:span>O',
    ),
  ]
  const style = (name: string, position: string) =>
    `<style:style style:name="${name}"><style:text-properties style:text-position="${position}"/></style:style>`
  assert.equal(
    text(body.join(''), {}, style('T1', 'super 58%') + style('T2', '-33% 58%')),
    '## Bees & honey\n\nThey make\tit.\nA line. (See there)\n\n- one\n  - inner\n- two\n\n| a | b |\n| --- | --- |\n| c |  |\n\n2·10^3 of H₂O',
  )
})

test('reads formulas and charts inside the package, and names the parts that are left out', () => {
  const math =
    '<math><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac><annotation>a over b</annotation></semantics></math>'
  const frame = (content: string) => `<draw:frame>${content}</draw:frame>`
  const { text, warnings } = odf(
    `<office:text>${p(`It is ${frame('<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>')} here.`)}${p(frame('<draw:image xlink:href="Pictures/a.png"/>'))}${p(`x${frame('<draw:object xlink:href="./Object 9"/>')}<office:annotation>${p('Really?')}</office:annotation>`)}${p(frame(`<draw:text-box>${p('In a box')}</draw:text-box>`))}</office:text>`,
    {
      'Object 1/content.xml': math,
      'styles.xml': `<office:master-styles><style:master-page><style:header>${p('Draft')}</style:header></style:master-page></office:master-styles>`,
    },
  )
  assert.equal(text, 'It is (a)/(b) here.\n\nx\n\nIn a box')
  assert.deepEqual(
    warnings.map(({ reason }) => reason),
    [
      'Page headers and footers are left out.',
      'Pictures are left out: text in them is not read.',
      'Embedded documents are left out.',
      'Comments are left out.',
    ],
  )
})

test('a workbook gives each sheet as a table without empty edges, with shapes', () => {
  const edge = '<table:table-cell table:number-columns-repeated="16384"/>'
  const { text } = odf(
    `<office:spreadsheet><table:table table:name="Prices"><table:shapes><draw:frame><draw:text-box>${p('Disclaimer')}</draw:text-box></draw:frame></table:shapes>${row(cell('Item') + edge)}${row(edge, 'table:number-rows-repeated="1048000"')}${row(`${cell('Bolt')}<table:table-cell/>${cell('12', 'table:number-columns-repeated="2"')}${edge}`, 'table:number-rows-repeated="2"')}</table:table></office:spreadsheet>`,
  )
  assert.equal(
    text,
    'Disclaimer\n\n# Prices\n\n| Item |  |  |\n| --- | --- | --- |\n| Bolt | 12 | 12 |\n| Bolt | 12 | 12 |',
  )
})

test('a presentation gives its slides as pages, with titles and notes', () => {
  const slide = (title: string, more: string) =>
    `<draw:page><draw:frame presentation:class="title"><draw:text-box>${p(title)}</draw:text-box></draw:frame>${more}<presentation:notes><draw:frame>${p('')}</draw:frame></presentation:notes></draw:page>`
  const notes = `<presentation:notes><draw:frame><draw:text-box>${p('Say it slowly.')}</draw:text-box></draw:frame></presentation:notes>`
  const { text, outline } = odf(
    `<office:presentation>${slide('Agenda', `<text:list><text:list-item>${p('One')}</text:list-item></text:list>${notes}`)}<draw:page/>${slide('End', '')}</office:presentation>`,
  )
  assert.equal(text, '# Agenda\n\n- One\n\nNotes: Say it slowly.\n\n# End')
  assert.deepEqual(outline?.pages, [
    { at: 0, page: 1 },
    { at: text.indexOf('# End'), page: 3 },
  ])
})

test('refuses an encrypted file and a file without content', () => {
  assert.throws(
    () => odf('', { 'META-INF/manifest.xml': '<manifest:encryption-data/>' }),
    /password/,
  )
  assert.throws(() => parseOpenDocument(buildZip({ mimetype: 'x' })), Unreadable)
})

test('reads files made to be slow or large once, or refuses them', () => {
  const deep = 50_000
  assert.match(
    text(`${'<table:table><table:table-row><table:table-cell>'.repeat(deep)}${p('deepest')}`),
    /deepest/,
  )
  assert.match(text(`${'<text:list><text:list-item>'.repeat(deep)}${p('deepest')}`), /- deepest/)
  assert.match(text(`${'<text:p>a'.repeat(deep)}`), /a/)
  assert.ok(text('<text:p>a<text:s text:c="999999999"/>b</text:p>').length < 200)
  assert.throws(
    () =>
      text(
        `<table:table>${row(cell('x', 'table:number-columns-repeated="1000"'), 'table:number-rows-repeated="1000"').repeat(100)}</table:table>`,
      ),
    /too many cells/,
  )
  const apart = Array.from({ length: 4_000 }, (_, i) =>
    row(`<table:table-cell table:number-columns-repeated="${i + 1}"/>${cell('x')}`),
  )
  assert.throws(() => text(`<table:table>${apart.join('')}</table:table>`), /too many cells/)
  // An object that contains itself.
  assert.match(
    text('<draw:object xlink:href="O"/>', {
      'O/content.xml': `${p('inner')}<draw:object xlink:href="../O"/>`,
    }),
    /inner/,
  )
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          '<text:p>',
          '</text:p>',
          '<table:table>',
          '</table:table>',
          row(cell('c')),
          '<text:list>',
          '</text:list>',
          '<office:annotation>',
          '</office:annotation>',
          'word',
          '<math>',
          '</math>',
          '<text:span>',
          '</text:span>',
          '<draw:page>',
        ),
        { maxLength: 40 },
      ),
      (parts) => void text(parts.join('')),
    ),
  )
})
