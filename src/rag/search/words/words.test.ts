import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Lists } from './arena.ts'
import { rank, readQuestion, score } from './ranking.ts'
import { eachTerm } from './terms.ts'
import { WordIndex } from './word-index.ts'

function shelfOf(texts: string[]) {
  const words = new WordIndex()
  for (const text of texts) words.add(text)
  const open = new Uint8Array(texts.length).fill(1)
  const find = (question: string, count = texts.length) =>
    rank(words, readQuestion(words, question), open, count)
  return { words, open, find }
}

function termsOf(text: string): string[] {
  const terms: string[] = []
  eachTerm(text, (term) => terms.push(term))
  return terms
}

/** Pairs of a question and the text that answers it, in different languages and forms. */
const answered: [string, string][] = [
  [
    'When was the lighthouse built?',
    'The lighthouses on this coast were all built in 1882 and 1883.',
  ],
  [
    'How do I cancel my subscription?',
    'Subscriptions can be cancelled at any time from the billing page.',
  ],
  [
    'Wie hoch sind die Steuern?',
    'Die Steuer beträgt neunzehn Prozent. Wer eine Steuererklärung abgibt, bekommt oft etwas zurück.',
  ],
  ['¿Dónde viven los pingüinos?', 'El pingüino emperador vive en la Antártida, sobre el hielo.'],
  ['Où se trouve la bibliothèque ?', 'La bibliothèque municipale se trouve derrière la gare.'],
  ['企鹅住在哪里？', '帝企鹅生活在南极洲的冰上，以鱼为食。'],
  ['ペンギンはどこに住んでいますか', 'ペンギンは南極に住んでいる鳥です。'],
  ['공항철도는 몇 시에 출발하나요?', '공항 철도의 첫 열차가 다섯 시 반에 출발합니다.'],
  ['등대는 언제 완공되었나요?', '그 등대가 1882년에 완공되었다.'],
  ['Где живут пингвины?', 'Императорские пингвины живут в Антарктиде.'],
  ['أين تقع المكتبة؟', 'تقع مكتبة البلدية خلف المحطة.'],
  ['Πού βρίσκεται η βιβλιοθήκη;', 'Η δημοτική βιβλιοθήκη βρίσκεται πίσω από τον σταθμό.'],
  ['हवाई अड्डा कब खुला?', 'नया हवाई अड्डा सोमवार को खुला।'],
  ['ประภาคารสร้างขึ้นเมื่อใด', 'ประภาคารสร้างขึ้นเมื่อปี 1882 บนเกาะ'],
]
const corpus = answered.map(([, text]) => text)

for (const [question, text] of answered) {
  test(`finds the answer to: ${question}`, () => {
    const [first, second] = shelfOf(corpus).find(question)
    assert.equal(corpus[first?.slot ?? -1], text)
    assert.ok((first?.score ?? 0) >= 0.5, String(first?.score))
    assert.ok((second?.score ?? 0) < 0.5, String(second?.score))
  })
}

test('words are lower case and whole; scripts without spaces are read in groups', () => {
  for (const [text, terms] of [
    ['The Cat—sat; on ﬁre 3.5', ['the', 'cat', 'sat', 'on', 'fire', '3', '5']],
    ['E-4471 x_y', ['e', '4471', 'x', 'y']],
    ['CAFÉ café', ['café', 'café']],
    ['中文字abc', ['中文', '文字', 'abc']],
    ['中', ['中']],
    ['กขคง', ['กขค', 'ขคง']],
    ['हिन्दी', ['हिन्दी']],
    ['أَحْمَد', ['احمد']],
    ['🙂 . \uD800', []],
  ] as const) {
    assert.deepEqual(
      termsOf(text).filter((term) => term !== '\uD800'),
      terms,
      text,
    )
  }
})

test('scores stay within 0 and 1 for any text, and leave no state for the next question', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 8 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      (texts, other) => {
        const { find, words } = shelfOf([...corpus, ...texts, other])
        const before = find('When was the lighthouse built?')
        for (const text of [...texts, other]) {
          for (const { slot, score } of find(text)) {
            assert.ok(score > 0 && score <= 1, String(score))
            assert.ok(slot < words.slots)
          }
        }
        assert.deepEqual(find('When was the lighthouse built?'), before)
      },
    ),
  )
})

test('a text matches itself best', () => {
  const { find } = shelfOf(corpus)
  for (const [slot, text] of corpus.entries()) {
    assert.equal(find(text)[0]?.slot, slot)
    assert.ok((find(text)[0]?.score ?? 0) > 0.5)
  }
})

test('distinguishes codes, names and accents, and finds words without accents', () => {
  const { find } = shelfOf([
    'Error E-4471 stops the pump.',
    'Error E-4472 stops the fan.',
    'má là mẹ',
    'mà là nhưng',
  ])
  assert.equal(find('E-4471')[0]?.slot, 0)
  assert.equal(find('e 4472')[0]?.slot, 1)
  assert.equal(find('má')[0]?.slot, 2)
  assert.equal(find('mà')[0]?.slot, 3)
})

test('an index after adding and removing answers like one that never had the removed texts', () => {
  const texts = fc.array(fc.constantFrom(...corpus, 'built built', 'the pier', ''), {
    minLength: 1,
    maxLength: 12,
  })
  fc.assert(
    fc.property(texts, texts, (kept, gone) => {
      const words = new WordIndex()
      const open = new Uint8Array(kept.length + gone.length)
      const rest: string[] = []
      for (const [i, text] of [...gone, ...kept].entries()) {
        const slot = words.add(text)
        if (i < gone.length) continue
        open[slot] = 1
        rest.push(text)
      }
      for (let slot = 0; slot < gone.length; slot++) words.remove(slot)
      const { find } = shelfOf(rest)
      for (const [question] of answered) {
        const found = rank(words, readQuestion(words, question), open, 20)
        const expected = find(question, 20)
        assert.deepEqual(
          found.map(({ slot, score }) => [slot - gone.length, score.toFixed(6)]),
          expected.map(({ slot, score }) => [slot, score.toFixed(6)]),
        )
      }
    }),
  )
})

test('early stopping finds the same as scoring every chunk', () => {
  let state = 7
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  // Some words in most chunks, others in few: by Zipf's law.
  const vocabulary = Array.from(
    { length: 3_000 },
    (_, i) => `w${i.toString(36)}q${(i * 7919).toString(36)}`,
  )
  const draw = () =>
    vocabulary[Math.floor(vocabulary.length ** (next(10_000) / 10_000)) - 1] as string
  const texts = Array.from({ length: 12_000 }, () => Array.from({ length: 20 }, draw).join(' '))
  const { open, words } = shelfOf(texts)
  const all = texts.map((_, slot) => slot)
  for (let i = 0; i < 20; i++) {
    const text = Array.from({ length: 6 }, draw).join(' ')
    // The candidates decide how rare a pair is.
    const question = { ...readQuestion(words, text), pairs: [] }
    const best = score(words, question, all).sort((a, b) => b.score - a.score || a.slot - b.slot)
    const found = rank(words, question, open, 10)
    const shared = found.filter(({ slot }) =>
      best.slice(0, 10).some((other) => other.slot === slot),
    ).length
    assert.equal(found[0]?.slot, best[0]?.slot, text)
    assert.ok(shared >= 9, `${shared} of 10: ${text}`)
  }
})

test('lists in one array return the pushed numbers in order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 3_000 }), (pushes) => {
      const lists = new Lists()
      const expected = Array.from({ length: 21 }, () => [] as number[])
      for (const list of expected.keys()) assert.equal(lists.open(), list)
      for (const [value, list] of pushes.entries()) {
        lists.push(list, value)
        expected[list]?.push(value)
      }
      for (const [list, values] of expected.entries()) {
        const read: number[] = []
        lists.read(list, (numbers, from, to) => read.push(...numbers.subarray(from, to)))
        assert.deepEqual(read, values)
      }
    }),
  )
})

test('a text of endless similar words makes no question slow, and each word is still found exactly', () => {
  let state = 7
  const word = (letters: string, length: number) =>
    Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return letters[Math.floor((state / 2 ** 32) * letters.length)]
    }).join('')
  for (const length of [30, 60]) {
    const lines = Array.from({ length: 25_000 }, () => word('ab', length))
    const { words, find } = shelfOf([lines.join('\n'), 'The lighthouse', lines.at(-1) as string])
    let comparisons = 0
    const eachWordOf = words.eachWord.bind(words)
    words.eachWord = (piece, each) =>
      eachWordOf(piece, (term) => {
        comparisons++
        each(term)
      })
    assert.ok(find(lines.slice(-200).join('\n')).some(({ slot }) => slot === 0))
    assert.ok(comparisons < 5_000_000, `${comparisons} words of ${length} letters`)
    assert.ok(find(lines.at(-1) as string).some(({ slot }) => slot === 2))
  }
})

test('long compounds, and words with a number after them, are found by similar words', () => {
  const { find } = shelfOf([
    'Die Lebensversicherungsgesellschaften zahlen.',
    'The iphone15 is new.',
    'Something else.',
  ])
  assert.equal(find('Lebensversicherungsgesellschaft')[0]?.slot, 0)
  assert.equal(find('iphone')[0]?.slot, 1)
})

test('of many equal texts only some are scored, and the nearer ones are among them', () => {
  const texts = Array.from(
    { length: 5_000 },
    (_, i) => `Invoice ${i} of the harbour company, due in thirty days.`,
  )
  const { words, find } = shelfOf([
    ...texts,
    'Invoice of the harbour company. The harbour company sent the invoice.',
  ])
  let reads = 0
  words.sequence = new Proxy(words.sequence, {
    get(target, key) {
      reads++
      return Reflect.get(target, key)
    },
  })
  const [first, ...more] = find('harbour company invoice', 10)
  assert.deepEqual([first?.slot, more.length], [texts.length, 9])
  assert.ok(reads < 300 * 20, `${reads} terms were read`)
  assert.equal(find('harbour company invoice', 1_000).length, 1_000, 'as many as are asked for')
})

test('scores separate Vietnamese syllables below 0.5', () => {
  const notes = Array.from(
    { length: 60 },
    (_, i) => `Mục ${i}: ghi chú của cuộc họp thứ ${i}, có chữ ký.`,
  )
  const { find } = shelfOf([
    'Hợp đồng thuê nhà có thời hạn hai năm. Bên thuê phải báo trước ba tháng khi muốn trả nhà. Tiền cọc được hoàn lại sau khi kiểm tra chính xác tình trạng căn hộ.',
    'Nhân viên được nghỉ phép mười tám tuần khi sinh con. Thời gian nghỉ được trả lương đầy đủ và phải báo trước cho phòng nhân sự.',
    'Giờ làm việc bắt đầu lúc tám giờ sáng. Mỗi bộ phận tự sắp xếp thời gian nghỉ trưa; việc này không cần báo cáo.',
    ...notes,
  ])
  const best = (question: string) => find(question)[0]?.score ?? 0
  // "Opening hours of the clinic": hours are in the third text, neither opening nor a clinic.
  assert.ok(best('Giờ mở cửa của phòng khám là mấy giờ?') < 0.5)
  assert.ok(best('Thời hạn thuê nhà là bao lâu?') > 0.7)
})
