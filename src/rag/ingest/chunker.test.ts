import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sentenceEnds } from '#embeddings/sentences.ts'
import { chunkText } from '#rag/ingest/chunker.ts'

const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.lorem({ mode: 'sentences', maxCount: 4 }),
  fc.constantFrom(
    '\n\n',
    '\n',
    ' ',
    '\t',
    '# Title\n\n',
    '```\nlet a = 1\n\nlet b = 2\n```\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n',
    '- item one\n- item two\n',
    '黑豹队的防守只丢了分，在联赛中排名第六。',
    'ไม่มีช่องว่างระหว่างคำในภาษาไทย',
    '👩‍👩‍👧‍👦🇩🇪👍🏽',
    'é'.repeat(30),
    'x'.repeat(300),
    'Dr. Smith paid 3.50 to J. R. Ewing, e.g. in May. ',
    '   \n \n\n   ',
  ),
)
const texts = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))
const settings = fc
  .integer({ min: 100, max: 1500 })
  .chain((size) =>
    fc.record({ size: fc.constant(size), overlap: fc.integer({ min: 0, max: size - 1 }) }),
  )

test('chunks are exact slices, within the ceiling, and together cover all but white space', () => {
  fc.assert(
    fc.property(texts, settings, (text, settings) => {
      let covered = 0
      for (const { start, end, text: content } of chunkText(text, settings)) {
        assert.equal(content, text.slice(start, end))
        assert.ok(content.length > 0 && content.length <= settings.size)
        assert.equal(text.slice(covered, start).trim(), '', 'nothing between two chunks is lost')
        assert.ok(end > covered, 'every chunk brings new text')
        assert.ok(covered - start <= settings.overlap, 'no chunk repeats more than the overlap')
        covered = end
      }
      assert.equal(text.slice(covered).trim(), '')
    }),
    { numRuns: 400 },
  )
})

test('a chunk with a long overlap extends beyond the white space after it', () => {
  const before = 'Leo bibendum maecenas non at consectetur integer ipsum.'.padEnd(92, 'é')
  const settings = { size: 100, overlap: 89 }
  for (let spaces = 0; spaces < 120; spaces++) {
    let covered = 0
    for (const { end } of chunkText(`${before}${' '.repeat(spaces)}${'x'.repeat(80)}`, settings)) {
      assert.ok(end > covered, `${spaces} spaces`)
      covered = end
    }
  }
})

test('surrogate pairs are never split', () => {
  fc.assert(
    fc.property(texts, settings, (text, settings) => {
      for (const { text: content } of chunkText(text, settings)) assert.ok(content.isWellFormed())
    }),
  )
})

test('the number of chunks is linear in the text for any overlap', () => {
  const chunks = chunkText('word '.repeat(20_000), { size: 100, overlap: 99 })

  assert.ok(chunks.length <= 100_000 / 10 + 1)
})

const hard = {
  'no spaces': 'x'.repeat(300_000),
  'only spaces': `a${' '.repeat(300_000)}b`,
  'only empty lines': `a.\n${'\n'.repeat(300_000)}b.`,
  'only stops': '.'.repeat(300_000),
  'only sentence ends': 'a. '.repeat(100_000),
  'an open fence': `\`\`\`\n${'code\n'.repeat(60_000)}`,
  'only headings': '# a\n'.repeat(60_000),
  'one grapheme': `e${'\u0301'.repeat(300_000)}`,
  'closing marks': `a.${')'.repeat(300_000)}`,
}
for (const [name, text] of Object.entries(hard)) {
  test(`${name}: the work stays linear`, () => {
    for (const settings of [
      { size: 100, overlap: 99 },
      { size: 10_000, overlap: 2000 },
    ]) {
      let covered = 0
      for (const { start, end } of chunkText(text, settings)) {
        assert.ok(end - start <= settings.size)
        assert.equal(text.slice(covered, start).trim(), '')
        covered = end
      }
      assert.equal(text.slice(covered).trim(), '')
    }
  })
}

test('chunks end with a sentence where one ends near the ceiling', () => {
  const sentence = 'The quick brown fox, as told by Dr. Smith, jumps over 3.5 lazy dogs. '
  const chunks = chunkText(sentence.repeat(100), { size: 500, overlap: 100 })

  for (const { text } of chunks) {
    assert.ok(text.startsWith('The quick'))
    assert.ok(text.endsWith('dogs.'))
  }
  assert.equal(chunks[0]?.text.length, sentence.length * 7 - 1)
})

test('Chinese text without spaces is cut after its own stops', () => {
  const chunks = chunkText('黑豹队的防守只丢了分，在联赛中排名第六。'.repeat(50), {
    size: 105,
    overlap: 0,
  })

  for (const { text } of chunks) assert.ok(text.endsWith('。'))
})

test('text without capitals is still cut between sentences', () => {
  const chunks = chunkText(
    'costs rose in 2012. they fell again in the year after that. '.repeat(40),
    { size: 300, overlap: 0 },
  )

  for (const { text } of chunks) assert.match(text, /\.$/)
})

test('a table that fits is not cut, and is separate from the prose before it', () => {
  const table = `| city | people |\n|---|---|\n${'| Oslo | 717710 |\n'.repeat(20)}`
  const chunks = chunkText(
    `${'Some words that lead up to it. '.repeat(9)}\n\n${table}\n\nAfter it.`,
    { size: 500, overlap: 100 },
  )

  assert.ok(chunks.some(({ text }) => text.includes(table.trim())))
})

test('a heading stays with the text below it', () => {
  const section = (n: number) =>
    `## Part ${n}\n\n${'It says a thing or two. '.repeat(18).trim()}\n\n`
  const chunks = chunkText([1, 2, 3, 4].map(section).join(''), { size: 600, overlap: 0 })

  assert.equal(chunks.length, 4)
  for (const { text } of chunks) assert.match(text, /^## Part/)
})

const sentences: Record<string, number> = {
  'One. Two! Three? Four…': 4,
  'Dr. Smith met J. Doe at 5.30 p.m. in the U.S. embassy. He left.': 2,
  'Am 3. Oktober wird z.B. gefeiert. Danach ist Ruhe.': 2,
  'He asked "Why?" and left. "No." She stayed.': 3,
  'El Sr. Pérez llegó. ¿Quién es? ¡Hola!': 3,
  'Он родился в г. Москва. Потом уехал.': 2,
  'これは文です。次の文！最後か？': 3,
  'هل هذا سؤال؟ نعم.': 2,
  'यह एक वाक्य है। दूसरा वाक्य।': 2,
}
for (const [text, count] of Object.entries(sentences)) {
  test(`${count} sentences in: ${text}`, () => {
    assert.equal(sentenceEnds(text).length, count, JSON.stringify(sentenceEnds(text)))
  })
}
