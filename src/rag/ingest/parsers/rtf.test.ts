import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRtf } from './rtf.ts'
import { PICTURES, Unreadable } from './unreadable.ts'

const read = (text: string) => parseRtf(Buffer.from(text, 'latin1'))
const textIn = (body: string, head = '') => read(`{\\rtf1\\ansi\\ansicpg1252${head} ${body}}`).text
const reasonsIn = (body: string) =>
  read(`{\\rtf1\\ansi ${body}}`).warnings.map(({ reason }) => reason)

test('reads paragraphs, and headings by style and by outline level', () => {
  const styles =
    "{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0\\b {\\*\\keycode k}\\'dcberschrift 1;}{\\s2 heading 2;}{\\*\\cs1 Strong;}}"
  assert.equal(
    textIn(
      '{\\pard\\s1 Terms\\par}{\\pard\\s2\\b Notice\\par}\\pard\\s0 Four\r\n weeks.\\par\\pard\\outlinelevel2 Form\\par\\pard\\outlinelevel9 In writing.',
      styles,
    ),
    '# Terms\n\n## Notice\n\nFour weeks.\n\n### Form\n\nIn writing.',
  )
})

test('decodes bytes by the code page of the document and of the font', () => {
  const fonts =
    '{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204{\\*\\panose 02}Arial Cyr;}{\\f2\\fcharset128 Mincho;}}'
  assert.equal(
    textIn(
      "\\f0 \\'80 12 f\\'fcr {\\f1\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2} {\\f2\\'93\\'fa\\'96{}} \\'e9t\\'e9",
      fonts,
    ),
    '€ 12 für Привет 日\ufffd été',
  )
  assert.equal(textIn("{\\f2\\'93\\'fa\\'96\\'7b}", fonts), '日本')
  assert.equal(read("{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'f0\\'e8}").text, 'При')
  assert.equal(read("{\\rtf1\\mac Caf\\'8e}").text, 'Café')
  assert.equal(read("{\\rtf1\\pca Caf\\'82 \\'b5\\'f5}").text, 'Café Á§')
  assert.equal(read("{\\rtf1\\pc Caf\\'82 \\'9b\\'f4}").text, 'Café ¢⌠')
  assert.equal(read("{\\rtf1\\deff3{\\fonttbl\\f3\\fcharset161 A;}\\'e1}").text, 'α')
})

test('refuses a code page that it cannot decode', () => {
  assert.throws(() => read("{\\rtf1\\ansicpg852 Caf\\'82}"), /code page 852.*Save it as \.docx/)
  assert.equal(read('{\\rtf1\\ansicpg852 Coffee}').text, 'Coffee')
})

test('reads Unicode and skips its replacement', () => {
  assert.equal(textIn("\\u1055?\\u-4064? a\\u8364\\'80 b"), 'П  a€ b')
  assert.equal(textIn("\\uc2\\u26085\\'93\\'fa!{\\uc0\\u26412}\\u26412 xy."), '日!本本.')
  assert.equal(textIn('\\u-10179?\\u-8703?'), '\u{1f601}')
  assert.equal(textIn('\\u8211\\endash x\\u8211\\par y'), '–x–\n\ny')
})

test('reads tables with merged cells, paragraphs in cells and tables in cells', () => {
  assert.equal(
    textIn(
      '\\trowd\\cellx1000\\cellx2000\\cellx3000\\pard\\intbl Item\\cell 2025\\cell 2026\\cell\\row' +
        '\\trowd\\cellx2000\\cellx3010\\pard\\intbl Bolts\\par and nuts\\cell 5|6\\cell\\row\\pard After.',
    ),
    '| Item | 2025 | 2026 |\n| --- | --- | --- |\n| Bolts and nuts |  | 5\\|6 |\n\nAfter.',
  )
  assert.equal(
    textIn(
      '\\trowd\\cellx1\\cellx2\\pard\\intbl Out\\par\\pard\\intbl\\itap2 a\\nestcell b\\nestcell{\\*\\nesttableprops\\trowd\\cellx9\\cellx10\\nestrow}{\\nonesttables\\par}' +
        '\\pard\\intbl\\itap1 in\\cell x\\cell\\trowd\\cellx1000\\cellx2000\\row\\pard End',
    ),
    '| Out a, b in | x |\n\nEnd',
  )
})

test('reads list items with their numbers', () => {
  assert.equal(
    textIn(
      "{\\listtext\\f3\\'b7\\tab}\\pard\\ls1 Apples\\par{\\listtext 1.\\tab}\\pard\\ls2\\ilvl1 Pears\\par\\pard{\\pntext\\f1\\'B7\\tab}{\\*\\pn\\pnlvlblt{\\pntxtb x}}Nuts\\par\\pard\\bullet\\tab Oil\\par\\pard{\\listtext 2.1\\tab}\\ls3\\outlinelevel1 Fruit",
      '{\\fonttbl{\\f3\\fcharset2 Wingdings;}}',
    ),
    '- Apples\n  1. Pears\n- Nuts\n- Oil\n\n## 2.1 Fruit',
  )
})

test('puts notes at the end and text boxes before their paragraph', () => {
  assert.equal(
    textIn(
      'Price{\\super\\chftn}{\\footnote\\pard {\\super\\chftn} Without tax.} due.{\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv 1}}{\\shptxt Box\\par}}{\\shprslt Box}}\\par Next.',
    ),
    'Box\n\nPrice due.\n\nNext.\n\nWithout tax.',
  )
})

test('marks raised and lowered text', () => {
  assert.equal(
    textIn('10{\\super 3} m, x{\\sub n}\\up6 2\\up0 ; H{\\sub 2}O'),
    '10^3 m, x_n^2; H₂O',
  )
})

test('leaves out hidden and deleted text, field codes and binary data', () => {
  const body =
    'a{\\v secret}b{\\deleted gone}c\\v d\\v0 e{\\field{\\*\\fldinst HYPERLINK "http://x"}{\\fldrslt link}}{\\*\\unknown{x}y}{\\info{\\title T}}{\\xe index}\\plain f{\\pict\\bin5 }}}}}{\\*\\comment z}}g'
  assert.equal(textIn(body.replace('{\\*\\comment z}}', '{\\*\\comment z}')), 'abcelinkf')
  assert.equal(textIn('x{\\pict\\bin3 }{\\}y'), 'xy')
})

test('names the parts that it leaves out in warnings', () => {
  assert.deepEqual(reasonsIn('a{\\*\\shppict{\\pict 89504e47}}{\\nonshppict{\\pict 00}}'), [
    PICTURES.reason,
  ])
  assert.deepEqual(reasonsIn('{\\header\\pard Page}{\\footer  }a{\\*\\annotation b}'), [
    'Page headers and footers are left out.',
    'Comments are left out.',
  ])
  assert.deepEqual(
    reasonsIn('{\\object{\\*\\objdata 00}{\\result shown}}{\\mmath{\\*\\moMath x}}\\u-3999?'),
    [
      'Embedded documents are left out.',
      'Formulas are left out.',
      'Characters of symbol fonts are left out.',
    ],
  )
  assert.deepEqual(reasonsIn('{\\header }{\\*\\listtable{\\pict 00}}plain'), [])
})

test('refuses other files and groups nested too deeply', () => {
  assert.throws(() => read('just text'), /not an RTF document/)
  assert.throws(() => read(`{\\rtf1 ${'{'.repeat(100_000)}`), Unreadable)
})

test('reads files that are cut off or damaged', () => {
  assert.equal(read('{\\rtf1 a{\\b b').text, 'ab')
  assert.equal(read('{\\rtf1 a}}} b').text, 'a')
  assert.equal(read('{\\rtf1\\trowd\\pard\\intbl a\\cell b').text, '| a | b |')
  assert.equal(read("{\\rtf1 a\\'zz\\bin99999999999 b").text, 'azz')
})

const writeUnicode = (text: string) =>
  [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i)}?`).join('')

test('returns any text that is written as Unicode', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((text) => !/[\ue000-\uf8ff\u00ad]/.test(text))
  fc.assert(
    fc.property(text, (text) => {
      const plain = text.trim()
      fc.pre(!/^[•·▪◦‣]|^[–-]\t|^(?:\d{1,3}[.)]|[a-z]\))\t/u.test(plain))
      assert.equal(textIn(writeUnicode(plain)), plain)
    }),
  )
})

test('reads or refuses any sequence of words, groups and bytes', () => {
  const words =
    'par pard cell row trowd cellx100 cellx-5 intbl itap2 nestcell nestrow footnote shptxt header fonttbl f1 fcharset2 fcharset128 u8364 u-1 uc9 bin2 v super deleted plain s1 ls1 ilvl99999 outlinelevel-3 listtext stylesheet pict ansicpg0 ansicpg932 ansicpg1251 mac constructor __proto__ *'
  const token = fc.oneof(
    fc.constantFrom(...words.split(' ').map((word) => `\\${word} `)),
    fc.constantFrom('{', '}', '{\\*', "\\'e9", '\\', "\\'", 'text', '\n', '\xe9'),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(token, { maxLength: 80 }), (tokens) => {
      try {
        assert.equal(typeof read(`{\\rtf1 ${tokens.join('')}`).text, 'string')
      } catch (error) {
        assert.ok(error instanceof Unreadable, String(error))
      }
    }),
    { numRuns: 500 },
  )
})

test('takes time in proportion to the length of hostile files', () => {
  const started = process.threadCpuUsage().user
  read(`{\\rtf1 ${'{\\footnote{\\trowd\\cellx9\\intbl a\\cell\\row}}'.repeat(50_000)}}`)
  read(`{\\rtf1 ${'{\\f1 '.repeat(4_000)}${'x}'.repeat(4_000)}}`)
  read(
    `{\\rtf1 \\trowd${'\\cellx1'.repeat(300_000)}${'\\intbl a\\cell'.repeat(100_000)}\\row${'b\\cell\\row'.repeat(50_000)}}`,
  )
  read(`{\\rtf1 ${'\\super a\\nosupersub b'.repeat(100_000)}}`)
  read(`{\\rtf1{\\stylesheet${'{\\s1 heading 1'.repeat(4_000)}}`)
  assert.ok(process.threadCpuUsage().user - started < 20_000_000)
})
