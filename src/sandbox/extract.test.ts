import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answer, tokens } from './extract.ts'

const SOURCES = `Answer from these sources only.

[1] (source: bikes.txt) The Falter 7 has a steel frame. Its brakes are hydraulic discs from Tektro.
[2] Deliveries leave the warehouse on Tuesdays. Returns are free within thirty days.`

test('the sentence that fits is quoted with its mark', () => {
  const said = answer([
    { role: 'system', content: SOURCES },
    { role: 'user', content: 'Which brakes does the bike have?' },
  ])
  assert.match(said, /Its brakes are hydraulic discs from Tektro\. \[1\]/)
  assert.doesNotMatch(said, /Deliveries/)
})

test('sources and question in one message are told apart', () => {
  const said = answer([{ role: 'user', content: `${SOURCES}\n\nQuestion: How many days do I have for returns?` }])
  assert.match(said, /Returns are free within thirty days\. \[2\]/)
  assert.doesNotMatch(said, /How many days/)
})

test('overlapping pieces are quoted once, whole sentences only, without the name of their file', () => {
  const said = answer([
    {
      role: 'system',
      content: `Sources:

[1] (a (b).pdf)
ing compilers are slow to start. Trace trees record hot loops at run time. The recorder writes what the loop does. Trace

[2] (paper.pdf)
Trace trees record hot loops at run time. Answer: guards leave a trace when types change. More follows`,
    },
    { role: 'user', content: 'How do trace trees record hot loops? And what do guards do when types change?' },
  ])
  assert.equal(said.match(/Trace trees record hot loops at run time\. \[1\]/g)?.length, 1)
  assert.doesNotMatch(said, /\[2\] Trace trees|\(paper\.pdf\)|^ing compilers|More follows/)
  assert.match(said, /guards leave a trace when types change\. \[2\]/)
})

test('context without numbers is quoted without marks', () => {
  const said = answer([
    { role: 'system', content: 'Context:\nThe tower was finished in the year 1889. It is painted every seven years.' },
    { role: 'user', content: 'When was the tower finished?' },
  ])
  assert.match(said, /The tower was finished in the year 1889\./)
  assert.doesNotMatch(said, /\[/)
})

test('what the sources do not hold is not answered', () => {
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

test('every answer says what it comes from', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: fc.string() })),
      (messages) => {
        assert.match(answer(messages), /Sandbox model: I quote, I do not reason\.$/)
      },
    ),
  )
})

test('tokens join to the text they were cut from', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(tokens(text).join(''), text)
    }),
  )
})
