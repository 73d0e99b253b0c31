// Files that were made to be slow: each is read in one pass. A reader with more passes would exceed
// its CPU limit.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inMemory } from '#platform/content.ts'
import type { Problem } from '#platform/problem.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { buildDocx, buildZip, paragraph } from '#testing/office-samples.ts'
import { createParser } from './parser.ts'
import { buildPdf, freeNumber } from './samples.ts'

const files = createTemporaryFiles(join(tmpdir(), `hostile-${randomUUID()}`), {
  memoryBytes: 1_000,
})
const parser = createParser({ temporaryFiles: files, log: createLog('silent') })
after(() => parser.close().then(files.close))

const range = (count: number, of: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => of(i))

async function read(name: string, bytes: Uint8Array | string): Promise<string> {
  const content = inMemory(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes)
  const { text } = await parser.read(name, content, new AbortController().signal)
  if (typeof text === 'string') return text
  const long = new TextDecoder().decode(await text.read(0, text.sizeBytes))
  text.remove()
  return long
}

/** The largest page that pdf.js accepts. */
const WIDE = '/MediaBox[-9000000 -9000000 9000000 9000000]'
const show = (text: string, x: number, y: number) => `BT /F 10 Tf ${x} ${y} Td (${text}) Tj ET`
const wide = (
  streams: string[],
  more: { catalogue?: string; page?: string; objects?: string[] } = {},
) => buildPdf(streams, '', { ...more, page: `${WIDE}${more.page ?? ''}` })

test('reads a thousand bookmarks to a page of sixty thousand lines', async () => {
  const free = freeNumber(1)
  const titles = [
    ...range(999, (i) => `Nowhere on this page does this title number ${i} stand`),
    'Line 59999 ends',
  ]
  const bookmarks = titles.map(
    (title, i) =>
      `<</Title(${title})/Parent ${free} 0 R/Dest[4 0 R/Fit]${i < 999 ? `/Next ${free + i + 2} 0 R` : ''}>>`,
  )
  const page = range(60_000, (i) => show(`Line ${i} ends`, 72, 800_000 - i * 12)).join('\n')
  const objects = [`<</First ${free + 1} 0 R/Last ${free + 1_000} 0 R>>`, ...bookmarks]
  const text = await read('a.pdf', wide([page], { catalogue: `/Outlines ${free} 0 R`, objects }))

  assert.match(text, /\n\n# Line 59999 ends$/)
})

test('reads endless lines of numbers at the head of each page', async () => {
  const numbers = range(60_000, (i) => String(i % 9)).join(' ')
  const text = await read(
    'a.pdf',
    wide(range(5, () => `${show(numbers, 72, 700)}\n${show('The text.', 72, 400)}`)),
  )

  assert.equal(text.split(numbers).length, 6)
})

test('reads rows with more cells than a table allows', async () => {
  const row = (y: number) => range(2_500, (i) => show(`c${i}`, 72 + i * 60, y)).join('\n')
  const text = await read('a.pdf', wide([range(60, (i) => row(7_000 - i * 14)).join('\n')]))

  assert.equal(text.split('c2499').length, 61)
})

test('reads a form of twelve thousand fields', async () => {
  const free = freeNumber(1)
  const count = 12_000
  const fields = range(
    count,
    (i) =>
      `<</Subtype/Widget/FT/Tx/T(f${i})/Rect[150 ${i * -12} 260 ${i * -12 + 10}]/V(value ${i})>>`,
  )
  const refs = fields.map((_, i) => `${free + i} 0 R`).join(' ')
  const page = range(count, (i) => show(`Label ${i}:`, 72, 2 - i * 12)).join('\n')
  const catalogue = `/AcroForm<</Fields[${refs}]/DA(/F 10 Tf 0 g)>>`
  const text = await read(
    'a.pdf',
    wide([page], { catalogue, page: `/Annots[${refs}]`, objects: fields }),
  )

  assert.match(text, /Label 11999:\s+value 0\s[\s\S]*value 11999$/)
})

test('reads a table of one long row and many short ones', async () => {
  const count = 30_000
  const cell = `<w:tc>${paragraph('x')}</w:tc>`
  const rows = `<w:tr>${cell.repeat(count)}</w:tr>${`<w:tr>${cell}</w:tr>`.repeat(count)}`
  const ofPage = `<table><tr>${'<td>x'.repeat(count)}</tr>${'<tr><td>x</tr>'.repeat(count)}</table>`
  for (const text of [
    await read('a.docx', buildDocx(`<w:tbl>${rows}</w:tbl>`)),
    await read('a.html', ofPage),
  ]) {
    assert.equal(text.match(/x/g)?.length, 2 * count)
    assert.ok(text.length < 20 * count, `${text.length}`)
  }
})

test('reads nested tables that each have text', async () => {
  const deep = 100_000
  const docx = `${'<w:tbl><w:tr><w:tc>'.repeat(deep)}${paragraph('deepest')}${`${paragraph('more')}</w:tc></w:tr></w:tbl>`.repeat(deep)}`
  const page = (deep: number) =>
    `${'<table><tr><td>'.repeat(deep)}deepest${'<p>more</p></td></tr></table>'.repeat(deep)}`
  const texts: [string, number][] = [
    [await read('a.docx', buildDocx(docx)), deep],
    [await read('a.html', page(10_000)), 10_000],
  ]
  for (const [text, count] of texts) {
    assert.match(text, /deepest/)
    assert.equal(text.match(/more/g)?.length, count)
  }
  await assert.rejects(read('a.html', page(deep)), /nested too deeply/)
})

test('reads end tags without their elements, deep inside open elements', async () => {
  const page = `${'<div>'.repeat(20_000)}${'</section>'.repeat(20_000)}end`
  assert.equal(await read('a.html', page), 'end')
})

test('reads endless quotes, and rows of separators only', async () => {
  const rows = `a,b\n${'"x,'.repeat(300_000)}`
  assert.equal(await read('a.csv', rows), rows)
  const cells = ','.repeat(1_000_000)
  assert.match(await read('a.csv', `a${cells}\nb${cells}\n`), /^\| a \|/)
})

test('reads endless blanks inside preformatted text', async () => {
  const blanks = ' '.repeat(2_000_000)
  assert.equal(await read('a.html', `<pre>a${blanks}b</pre>`), `\`\`\`\na${blanks}b\n\`\`\``)
})

test('reads a part that is named a thousand times up to the limit', async () => {
  const slides = '<p:sldId r:id="r1"/>'.repeat(1_000)
  const bytes = buildZip({
    'ppt/presentation.xml': slides,
    'ppt/_rels/presentation.xml.rels': '<Relationship Id="r1" Type="x/slide" Target="s.xml"/>',
    'ppt/s.xml': `<sp>${' '.repeat(10_000_000)}</sp>`,
  })
  await assert.rejects(read('a.pptx', bytes), ({ status, detail }: Problem) => {
    assert.equal(status, 422)
    assert.match(JSON.stringify(detail), /holds too much: its parts unpack to more than 1 GB/)
    return true
  })
})

test('reads an RTF document of endless notes, table rows and pictures', async () => {
  const groups = '{\\footnote\\trowd\\cellx9\\intbl a\\cell\\row{\\pict 00}'.repeat(4_000)
  const text = await read('a.rtf', `{\\rtf1 begin\\par${groups}${'}'.repeat(4_000)}end}`)
  assert.match(text, /^begin\n\nend\n\n/)
  await assert.rejects(read('a.rtf', `{\\rtf1${'{'.repeat(1_000_000)}`), { status: 422 })
})
