// Emails, notebooks and subtitles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseEml } from './eml.ts'
import { adviseUpload, FORMAT_ENDINGS, findFormat } from './formats.ts'
import { parseIpynb } from './ipynb.ts'
import { parseSubtitles } from './subtitles.ts'
import { Unreadable } from './unreadable.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const eml = (lines: string[]) => parseEml(bytes(lines.join('\r\n')))
const notebook = (cells: object[], more: object = {}) =>
  parseIpynb(bytes(JSON.stringify({ cells, nbformat: 4, ...more })))
const subtitles = async (text: string) => (await parseSubtitles(bytes(text))).text

const HEAD = [
  'From: =?UTF-8?Q?J=C3=B6rg?= <joerg@example.com>',
  'To: Ann <ann@example.com>, bob@example.com',
  'Subject: =?UTF-8?B?UHJlaXNlIGbDvHI=?= 2026',
  'Date: Mon, 23 Nov 2026 10:00:00 +0000',
  'MIME-Version: 1.0',
]
const HEADING =
  '# Preise für 2026\n\nFrom: Jörg <joerg@example.com>\nTo: Ann <ann@example.com>, bob@example.com\nDate: 2026-11-23T10:00:00.000Z'

test('an email gives its subject, header and text in its declared encoding', async () => {
  const { text, warnings } = await eml([
    ...HEAD,
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Der Preis betr=E4gt 12=20=',
    'Euro.',
  ])
  assert.equal(text, `${HEADING}\n\nDer Preis beträgt 12 Euro.`)
  assert.deepEqual(warnings, [])
})

test('an email’s HTML is preferred to its plain text, and attachments are named', async () => {
  const { text, warnings } = await eml([
    ...HEAD,
    'Content-Type: multipart/mixed; boundary=a',
    '',
    '--a',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Plain.',
    '--b',
    'Content-Type: text/html',
    '',
    '<table><tr><th>Item<th>EUR<tr><td>Bolt<td>12</table><img src=cid:1>',
    '--b--',
    '--a',
    'Content-Type: application/pdf; name=offer.pdf',
    'Content-Disposition: attachment; filename=offer.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    'JVBERi0=',
    '--a--',
  ])
  assert.equal(text, `${HEADING}\n\n| Item | EUR |\n| --- | --- |\n| Bolt | 12 |`)
  assert.deepEqual(
    warnings.map(({ reason }) => reason),
    [
      'Pictures are left out: text in them is not read.',
      'Attachments are left out: offer.pdf. Upload them on their own.',
    ],
  )
})

test('refuses other files and encrypted emails with a reason', async () => {
  await assert.rejects(eml(['just some text', 'and more of it']), /not an email/)
  await assert.rejects(
    eml([
      ...HEAD,
      'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
      '',
      'MIIB',
    ]),
    /encrypted/,
  )
})

test('reads or refuses emails made to be slow in linear time', async () => {
  const deep = Array.from({ length: 5_000 }, (_, i) => [
    `Content-Type: multipart/mixed; boundary=b${i}`,
    '',
    `--b${i}`,
  ]).flat()
  await eml([...HEAD, ...deep, 'Content-Type: text/plain', '', 'deepest']).then(
    ({ text }) => assert.match(text, /deepest|Preise/),
    (error) => assert.ok(error instanceof Unreadable, String(error)),
  )
  const parts = Array.from({ length: 20_000 }, () => [
    '--b',
    'Content-Type: text/plain',
    '',
    'part',
  ]).flat()
  const { text } = await eml([
    ...HEAD,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    ...parts,
    '--b--',
  ])
  assert.equal(text.match(/part/g)?.length, 20_000)
  const long = `${'=?UTF-8?Q?a?= '.repeat(20_000)}`
  assert.match((await eml([`Subject: ${long}`, 'From: a@example.com', '', 'body'])).text, /^# a+/)
  const addresses = Array.from({ length: 20_000 }, (_, i) => `"n ${i}" <a${i}@example.com>`).join(
    ', ',
  )
  assert.match((await eml([`To: ${addresses}`, 'Subject: s', '', 'body'])).text, /n 19999/)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (noise) => {
      await parseEml(Buffer.concat([bytes(`${HEAD.join('\r\n')}\r\n`), noise])).catch((error) =>
        assert.ok(error instanceof Unreadable, String(error)),
      )
    }),
  )
})

test('a notebook gives its cells and their text outputs, without pictures', async () => {
  const { text, warnings } = await notebook(
    [
      {
        cell_type: 'markdown',
        source: ['# Title\n', 'With a ![plot](data:image/png;base64,iVBORw0KGgo=) in it.'],
      },
      {
        cell_type: 'code',
        source: 'x = 1\nprint(x)',
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n'] },
          {
            output_type: 'execute_result',
            data: {
              'text/plain': '<Table>',
              'text/html': '<table><tr><th>a<th>b<tr><td>1<td>2</table>',
            },
          },
          {
            output_type: 'display_data',
            data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': '<Figure size 640x480>' },
          },
          {
            output_type: 'error',
            ename: 'ValueError',
            evalue: '\u001b[31mbad\u001b[0m',
            traceback: ['…'],
          },
        ],
      },
      { cell_type: 'raw', source: 'raw' },
    ],
    { metadata: { language_info: { name: 'python' } } },
  )
  assert.equal(
    text,
    '# Title\nWith a ![plot]() in it.\n\n```python\nx = 1\nprint(x)\n```\n\n```\n1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nValueError: bad\n```\n\nraw',
  )
  assert.deepEqual(
    warnings.map(({ reason }) => reason),
    ['Pictures are left out: text in them is not read.'],
  )
  const older = await parseIpynb(
    bytes(
      JSON.stringify({
        worksheets: [
          {
            cells: [
              { cell_type: 'heading', level: 2, source: 'Old' },
              { cell_type: 'code', input: 'y', outputs: [{ output_type: 'pyout', text: '2' }] },
            ],
          },
        ],
      }),
    ),
  )
  assert.equal(older.text, '## Old\n\n```\ny\n```\n\n```\n2\n```')
})

test('refuses other files, and reads a notebook of odd parts', async () => {
  for (const text of ['{"a": 1}', '[]', 'null', '{"cells": [', `${'['.repeat(200_000)}`])
    await assert.rejects(parseIpynb(bytes(text)), Unreadable)
  assert.equal(
    (
      await notebook([
        {},
        { cell_type: 'code', source: 7, outputs: 'x' },
        { cell_type: 'markdown', source: 'kept' },
      ])
    ).text,
    'kept',
  )
  const pictures = '![a](data:image/png;base64,'.repeat(50_000)
  assert.ok(
    (await notebook([{ cell_type: 'markdown', source: pictures }])).text.length < pictures.length,
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.object({ maxDepth: 3 })),
      async (cells) => void (await notebook(cells)),
    ),
    { numRuns: 50 },
  )
})

test('subtitles become running text without numbers and times', async () => {
  assert.equal(
    await subtitles(
      '\ufeff1\r\n00:00:01,000 --> 00:00:03,000\r\nThe <i>harbour</i>\r\nhas two\r\n\r\n2\r\n00:00:03,100 --> 00:00:04,000\r\ncranes &amp; a light.\r\n\r\n3\r\n00:00:09,000 --> 00:00:10,000\r\nLater: {\\an8}1912.\r\n4\r\n00:00:10,500 --> 00:00:11,000\r\nEnd.',
    ),
    'The harbour has two cranes & a light.\n\nLater: 1912. End.',
  )
  assert.equal(
    await subtitles(
      'WEBVTT - title\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello</v>\n\n00:02.000 --> 00:03.000\nHello\n\n00:03.000 --> 00:04.000\n<v.loud Bob>Hi <00:03.500><c>there</c>',
    ),
    'Ann: Hello Hello\nBob: Hi there',
  )
  assert.equal(await subtitles('no times at all\n'), 'no times at all\n')
})

test('reads subtitles of any shape once', async () => {
  for (const part of ['00:00:01,000 --> 00:00:02,000\n', '<v ', '<', '{\\', '1\n', '00:', '-->'])
    await subtitles(`00:00:01,000 --> 00:00:02,000\n${part.repeat(100_000)}`)
})

test('an unsupported format comes with advice', () => {
  assert.equal(adviseUpload('doc'), 'Save it as .docx and upload it again.')
  assert.equal(findFormat('rtf'), 'rtf')
  assert.equal(adviseUpload('msg'), 'Save it as .eml and upload it again.')
  assert.match(adviseUpload('zip'), /Unpack/)
  assert.match(adviseUpload('png'), /OCR/)
  assert.match(adviseUpload('exe'), /\.pdf, \.docx, \.xlsx/)
  for (const ending of FORMAT_ENDINGS.split(', '))
    assert.notEqual(findFormat(ending.slice(1)), undefined, ending)
})
