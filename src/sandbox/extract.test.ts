import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answer, SIGNATURE, tokens } from './extract.ts'

const SOURCES = `Answer from these sources only.

[1] (source: bikes.txt) The Falter 7 has a steel frame. Its brakes are hydraulic discs from Tektro.
[2] Deliveries leave the warehouse on Tuesdays. Returns are free within thirty days.`

test('quotes the matching sentence with its citation', () => {
  const said = answer([
    { role: 'system', content: SOURCES },
    { role: 'user', content: 'Which brakes does the bike have?' },
  ])
  assert.match(said, /Its brakes are hydraulic discs from Tektro\. \[1\]/)
  assert.doesNotMatch(said, /Deliveries/)
})

test('reads a source with many blank lines in linear time', () => {
  const read = (lines: number) => {
    const before = process.cpuUsage()
    const content = `Sources:\n[1] The harbour opens at nine.${'\n '.repeat(lines)}\nIt is closed on Mondays.`
    assert.match(
      answer([{ role: 'user', content: `${content}\n\nQuestion: When does the harbour open?` }]),
      /at nine/,
    )
    return process.cpuUsage(before).user
  }
  read(1_000)
  assert.ok(
    read(60_000) < 1_000_000,
    'microseconds; four times as many where each line is looked at from each',
  )
})

test('answers a question about all documents with their number and beginnings', () => {
  const says =
    'Today is 2026-11-23.\n\nThe question is about the documents as a whole: 3 documents, newest first. The sources are their beginnings;'
  const inside =
    '> lease.pdf, added 2026-11-22\n> b.md, added 2026-11-20\n\n[1] (lease.pdf, page 1, added 2026-11-22)\n> The lease begins in May. Dogs may stay.\n\n[2] (b.md, added 2026-11-20)\n> Short.\n\n[3] (added 2026-11-01)\n> A text begins.'
  const given = (about: string) => [
    {
      role: 'user',
      content: `${about}\n\n<sources-x>\nThe documents' names:\n${inside}\n</sources-x>`,
    },
    { role: 'user', content: 'How many documents do I have?' },
  ]
  assert.equal(
    answer(given(says)),
    `You have 3 documents:\n\n- lease.pdf: The lease begins in May. [1]\n- b.md\n- A text without a name\n\n${SIGNATURE}`,
  )
  assert.doesNotMatch(answer(given('')), /You have/)
})

test('separates sources and a question in one message', () => {
  const said = answer([
    { role: 'user', content: `${SOURCES}\n\nQuestion: How many days do I have for returns?` },
  ])
  assert.match(said, /Returns are free within thirty days\. \[2\]/)
  assert.doesNotMatch(said, /How many days/)
})

test('quotes overlapping chunks once, in whole sentences and without the file name', () => {
  const said = answer([
    {
      role: 'system',
      content: `Sources:

[1] (a (b).pdf)
ing compilers are slow to start. Trace trees record hot loops at run time. The recorder writes what the loop does. Trace

[2] (paper.pdf)
Trace trees record hot loops at run time. Answer: guards leave a trace when types change. More follows`,
    },
    {
      role: 'user',
      content: 'How do trace trees record hot loops? And what do guards do when types change?',
    },
  ])
  assert.equal(said.match(/Trace trees record hot loops at run time\. \[1\]/g)?.length, 1)
  assert.doesNotMatch(said, /\[2\] Trace trees|\(paper\.pdf\)|^ing compilers|More follows/)
  assert.match(said, /guards leave a trace when types change\. \[2\]/)
})

test('quotes context without numbers without citations', () => {
  const said = answer([
    {
      role: 'system',
      content:
        'Context:\nThe tower was finished in the year 1889. It is painted every seven years.',
    },
    { role: 'user', content: 'When was the tower finished?' },
  ])
  assert.match(said, /The tower was finished in the year 1889\./)
  assert.doesNotMatch(said, /\[/)
})

test('does not answer a question that the sources do not answer', () => {
  const numbered = answer([
    { role: 'system', content: SOURCES },
    { role: 'user', content: 'Quantum chromodynamics?' },
  ])
  assert.match(numbered, /^No sentence of the sources shares a word with the question\./)
  const plain = answer([
    { role: 'system', content: 'Context: The tower was finished in the year 1889.' },
    { role: 'user', content: 'Quantum chromodynamics?' },
  ])
  assert.match(plain, /^Nothing in the sources/)
})

test('quotes the matching row of a table and the matching item of a list', () => {
  const content = `Sources:

[1] (prices.pdf, page 2)
# Price list of the year 2026
| Article | Price |
| --- | --- |
| A0056 | 56.00 |
| A0057 | 57.00 |

- Send the request to Hilda Marsh
- Wait for ten days after that`
  const asked = (question: string) =>
    answer([
      { role: 'system', content },
      { role: 'user', content: question },
    ])
  assert.equal(asked('What does A0057 cost?').split('\n')[0], '| A0057 | 57.00 | [1]')
  assert.equal(asked('Who gets the request?').split('\n')[0], 'Send the request to Hilda Marsh [1]')
})

test('finds text without spaces by its characters', () => {
  const content =
    'Sources:\n\n[1] (lib.txt)\n図書館は午前九時に開きます。館長は田中花子です。本は二週間借りることができます。'
  const said = answer([
    { role: 'system', content },
    { role: 'user', content: '館長は誰ですか' },
  ])
  assert.match(said, /^館長は田中花子です。 \[1\]/)
})

test('lists sources that share no word with the question by name and beginning', () => {
  const content = `Sources:\n\n[1] (lease.pdf, page 1)\nNo dogs are allowed in the flat.\n\n[2] (a.md)\nThe bees sleep in the winter.`
  const said = answer([
    { role: 'system', content },
    { role: 'user', content: 'What do I own?' },
  ])
  assert.match(
    said,
    /begin:\n\n- lease\.pdf: No dogs are allowed in the flat\. \[1\]\n- a\.md: The bees sleep in the winter\. \[2\]/,
  )
})

test('every answer names its origin', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: fc.string() }),
      ),
      (messages) => {
        assert.match(answer(messages), /Sandbox model: I quote, I do not reason\.$/)
      },
    ),
  )
})

test('tokens join to the original text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(tokens(text).join(''), text)
    }),
  )
})
