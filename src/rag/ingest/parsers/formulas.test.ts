import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildDocx, buildZip, paragraph } from '#testing/office-samples.ts'
import { parseDocx } from './docx.ts'
import { ScriptedText } from './formulas.ts'
import { htmlToMarkdown } from './html.ts'
import { parsePptx } from './pptx.ts'
import { parseXlsx } from './xlsx.ts'

const html = (page: string) => htmlToMarkdown(page).text
const math = (content: string) =>
  html(`<p>The energy is <math>${content}</math> as found in 1905.`).slice(14, -18)
const run = (text: string) => `<m:r><w:rPr><w:rFonts/></w:rPr><m:t>${text}</m:t></m:r>`
const word = (content: string) =>
  parseDocx(
    buildDocx(
      `<w:p><w:r><w:t xml:space="preserve">It is </w:t></w:r><m:oMath>${content}</m:oMath></w:p>`,
    ),
  ).text.slice(6)
const part = (name: string, content: string) => `<m:${name}>${content}</m:${name}>`
const value = (name: string, val: string) => `<m:${name} m:val="${val}"/>`

const [a, b, x] = ['a', 'b', 'x'].map((name) => `<mi>${name}</mi>`)
const mathMl: [string, string, string][] = [
  ['a product', '<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>', 'E = mc^2'],
  ['a fraction', `<mfrac><mrow>${a}<mo>+</mo><mn>1</mn></mrow>${b}</mfrac>`, '(a+1)/(b)'],
  [
    'an exponent of several parts',
    `<msup>${x}<mrow>${a}<mo>+</mo><mn>1</mn></mrow></msup>`,
    'x^(a+1)',
  ],
  ['both scripts', `<msubsup>${x}<mn>1</mn><mn>2</mn></msubsup>`, 'x_1^2'],
  ['roots', `<msqrt>${x}</msqrt><mo>+</mo><mroot>${x}<mn>3</mn></mroot>`, '√(x)+(x)^(1/3)'],
  [
    'a sum',
    `<munderover><mo>∑</mo><mrow>${a}<mo>=</mo><mn>1</mn></mrow><mn>9</mn></munderover>${a}`,
    '∑_(a = 1)^9 a',
  ],
  [
    'a matrix',
    `<mtable><mtr><mtd>${a}</mtd><mtd>${b}</mtd></mtr><mtr><mtd>1</mtd><mtd>2</mtd></mtr></mtable>`,
    '[a, b; 1, 2]',
  ],
  ['a binomial', `<mfrac linethickness="0">${a}${b}</mfrac>`, '(a; b)'],
  ['accents', `<mover>${x}<mo>‾</mo></mover><mover>${x}<mi>n</mi></mover>`, 'x\u0305x^n'],
  ['scripts that end', `<msub>${x}<mn>1</mn></msub>${a}`, 'x_1 a'],
  ['a function', `<mi>sin</mi><mo>\u2061</mo>${x}`, 'sin x'],
  ['fences', `<mfenced open="[" close=")">${a}${b}</mfenced>`, '[a, b)'],
  ['numbers side by side', '<mn>1</mn><mn>2</mn>', '1 2'],
  [
    'an isotope',
    '<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>',
    '_6^14 C',
  ],
  [
    'its source in TeX',
    `<semantics><mrow>${a}</mrow><annotation encoding="application/x-tex">\\a</annotation></semantics>`,
    'a',
  ],
]
for (const [title, content, expected] of mathMl) {
  test(`MathML on one line: ${title}`, () => assert.equal(math(content), expected))
}

const katex = (content: string, shown: string) =>
  `<span class="katex"><span class="katex-mathml"><math><semantics><mrow>${content}</mrow><annotation encoding="application/x-tex">x</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span class="base"><span class="strut"></span>${shown}</span><span class="base"><span class="mord">${shown}</span></span></span></span>`

test('reads a formula of KaTeX once', async () => {
  const square = katex('<msup><mi>x</mi><mn>2</mn></msup>', 'x<span>2</span>')
  assert.equal(
    await html(`<p>If ${square} and <span>not</span> ${square}${katex('<mi>y</mi>', 'y')}.<p>End`),
    'If x^2 and not x^2y.\n\nEnd',
  )
  assert.equal(
    await html(`<math><mi>a</mi></math> or <span>b ${square}</span><ul><li>c<li>d</ul>`),
    'a or b x^2\n\n- c\n- d',
  )
})

test('reads the visible formula of KaTeX where it is the only one', async () => {
  const shown = '<span class="katex"><span class="katex-html"><span>z</span></span></span>'
  assert.equal(await html(`<p>${katex('<mi>y</mi>', 'y')} but ${shown}`), 'y but z')
})

const officeMath: [string, string, string][] = [
  ['a fraction', part('f', part('num', run('12 mg')) + part('den', run('5 ml'))), '(12 mg)/(5 ml)'],
  ['an exponent', run('2·') + part('sSup', part('e', run('10')) + part('sup', run('3'))), '2·10^3'],
  [
    'both scripts',
    part('sSubSup', part('e', run('x')) + part('sub', run('i+1')) + part('sup', run('2'))),
    'x_(i+1)^2',
  ],
  [
    'a root',
    part('rad', part('radPr', value('degHide', '1')) + part('deg', '') + part('e', run('x'))),
    '√(x)',
  ],
  ['a root of a degree', part('rad', part('deg', run('3')) + part('e', run('x'))), '(x)^(1/3)'],
  [
    'an integral',
    part(
      'nary',
      part('naryPr', value('chr', '∫')) +
        part('sub', run('0')) +
        part('sup', run('∞')) +
        part('e', run('f')),
    ),
    '∫_0^∞ f',
  ],
  [
    'brackets',
    part(
      'd',
      part('dPr', value('begChr', '[') + value('endChr', ']') + value('sepChr', ';')) +
        part('e', run('a')) +
        part('e', run('b')),
    ),
    '[a;b]',
  ],
  ['a function', part('func', part('fName', run('sin')) + part('e', run('x'))), 'sin(x)'],
  [
    'a binomial',
    part('f', part('fPr', value('type', 'noBar')) + part('num', run('n')) + part('den', run('k'))),
    '(n; k)',
  ],
  [
    'a matrix',
    part(
      'm',
      [1, 2].map((n) => part('mr', part('e', run(`a${n}`)) + part('e', run(`b${n}`)))).join(''),
    ),
    '[a1, b1; a2, b2]',
  ],
  [
    'an accent',
    part('acc', part('accPr', value('chr', '\u0304')) + part('e', run('x'))),
    'x\u0304',
  ],
  ['equations', part('eqArr', part('e', run('a=1')) + part('e', run('b=2'))), 'a=1; b=2'],
]
for (const [title, content, expected] of officeMath) {
  test(`a formula of Word on one line: ${title}`, () => assert.equal(word(content), expected))
}

const scripted: [string, string, string][] = [
  ['a power', '2 x 10<sup>3</sup> of them', '2 x 10^3 of them'],
  ['a power before a name', '10<sup>3</sup>x', '10^3 x'],
  ['a negative power', '10<sup>&minus;3</sup>', '10^−3'],
  ['a power of several parts', 'x<sup>n + 1</sup>', 'x^(n + 1)'],
  ['a power in parentheses', 'f<sup>(n)</sup>', 'f^(n)'],
  ['an index', 'x<sub>1</sub> + x<sub>i+1</sub>', 'x_1 + x_(i+1)'],
  ['a chemical formula', 'CO<sub>2</sub>, H<sub>2</sub>O, Ca<sup>2+</sup>', 'CO₂, H₂O, Ca^2+'],
  ['the number of a note', 'in Kiel<sup>1</sup>, in Lund<sup>[2]</sup>', 'in Kiel^1, in Lund[2]'],
  ['the text of a note', '<sup>1</sup> Without Sweden', '1 Without Sweden'],
  [
    'an ordinal',
    'the 1<sup>st</sup> and 2<sup>nd</sup>, Acme<sup>®</sup>',
    'the 1st and 2nd, Acme®',
  ],
]
for (const [title, content, expected] of scripted) {
  test(`raised and lowered text of a page: ${title}`, () =>
    assert.equal(html(`<p>${content}`), expected))
}

test('reads the options of a list in a page', () => {
  const page =
    '<p>Size: <select name=s><optgroup label=EU><option>38<option selected>40<optgroup label=US><option>8</select>.'
  assert.equal(html(page), 'Size: EU 38, 40, US 8.')
})

test('marks raised and lowered text of a Word document, by run or by style', () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
  const raised = '<w:vertAlign w:val="superscript"/>'
  const bytes = buildDocx(
    `<w:p><w:pPr><w:rPr>${raised}</w:rPr></w:pPr>${run('at most 2·10')}${run('1', raised)}${run('2', raised)}${run(' of x')}${run('i', '<w:rStyle w:val="Low"/>')}${run(' left')}</w:p>`,
    {
      'word/styles.xml':
        '<w:styles><w:style w:styleId="Low"><w:rPr><w:vertAlign w:val="subscript"/></w:rPr></w:style></w:styles>',
    },
  )
  assert.equal(parseDocx(bytes).text, 'at most 2·10^12 of x_i left')
})

test('marks raised text of workbooks and slides', () => {
  const run = (text: string, align = '') => `<r><rPr>${align}</rPr><t>${text}</t></r>`
  const square = `${run('m')}${run('2', '<vertAlign val="superscript"/>')}`
  const relation = (type: string, target: string) =>
    `<Relationships><Relationship Id="r1" Type="x/${type}" Target="${target}"/></Relationships>`
  const workbook = buildZip({
    'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relation('worksheet', 's.xml').replace(
      '</R',
      '<Relationship Id="r2" Type="x/sharedStrings" Target="t.xml"/></R',
    ),
    'xl/s.xml': `<row><c t="s"><v>0</v></c><c t="inlineStr"><is>${square}</is></c><c><v>7</v></c></row>`,
    'xl/t.xml': `<sst><si>${square}</si></sst>`,
  })
  assert.match(parseXlsx(workbook).text, /\| m\^2 \| m\^2 \| 7 \|/)

  const slides = buildZip({
    'ppt/presentation.xml': '<p:sldId id="1" r:id="r1"/>',
    'ppt/_rels/presentation.xml.rels': relation('slide', 'a.xml'),
    'ppt/a.xml': `<p:sp><a:p><a:r><a:rPr baseline="30000"/><a:t>a</a:t></a:r></a:p><a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>3</a:t></a:r></a:p>
      <mc:AlternateContent><mc:Choice><a:p><a14:m><m:oMath>${part('f', part('num', '<m:r><m:t>1</m:t></m:r>') + part('den', '<m:r><m:t>x</m:t></m:r>'))}</m:oMath></a14:m></a:p></mc:Choice><mc:Fallback><a:p><a:r><a:t>gone</a:t></a:r></a:p></mc:Fallback></mc:AlternateContent></p:sp>`,
  })
  assert.equal(parsePptx(slides).text, 'a\n10^3\n(1)/(x)')
})

test('reads formulas of any depth and length once, and damaged formulas to their end', () => {
  const deep = 20_000
  assert.match(math(`${'<mfrac><mi>a</mi>'.repeat(deep)}<mi>b</mi>`), /a/)
  assert.match(word(`${'<m:f><m:num>'.repeat(deep)}${run('b')}`), /b/)
  assert.match(
    word(`${'<m:sSup><m:e>'.repeat(deep)}${run('b')}${'</m:e></m:sSup>'.repeat(deep)}`),
    /^b/,
  )
  assert.equal(math(`<mrow>${'<mi>a</mi>'.repeat(300_000)}</mrow>`).length, 300_000)
  assert.equal(html(`<p>x${'<sup>2</sup>+x'.repeat(200_000)}`).length, 1 + 200_000 * 4)
  assert.equal(html('<p>a <math><mi>b</mi><p>c'), 'a b\n\nc')
  assert.equal(
    parseDocx(
      buildDocx(`${paragraph('a')}<w:p><m:oMath>${run('b')}</w:p>${paragraph('c')}`),
    ).text.includes('b'),
    true,
  )

  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          '<m:f>',
          '</m:f>',
          '<m:num>',
          '</m:num>',
          '<m:oMath>',
          '</m:oMath>',
          run('a'),
          '<w:p>',
          '</w:p>',
          '<m:m>',
          '</m:m>',
        ),
        { maxLength: 40 },
      ),
      (parts) => void parseDocx(buildDocx(parts.join(''))),
    ),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string(), fc.constantFrom('^', '_', '')), { maxLength: 10 }),
      (parts) => {
        const text = new ScriptedText()
        for (const [piece, script] of parts) text.add(piece, script as '')
        assert.equal(
          text.toString().replace(/[\^_() ₀-₉\d]/g, ''),
          parts.map(([piece]) => piece.replace(/[\^_() \d]/g, '')).join(''),
        )
      },
    ),
  )
})
