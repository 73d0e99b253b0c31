import assert from 'node:assert/strict'
import test from 'node:test'
import { walkTokens } from 'marked'
import { type CitationToken, type MathsToken, splitBlocks } from './lexer.ts'

function findMaths(text: string): string[] {
  const found: string[] = []
  for (const { tokens } of splitBlocks(text, false)) {
    walkTokens(tokens, (token) => {
      if (token.type === 'maths') found.push((token as MathsToken).tex.trim())
    })
  }
  return found
}

function findCitations(text: string): string[] {
  const found: string[] = []
  for (const { tokens } of splitBlocks(text, true)) {
    walkTokens(tokens, (token) => {
      if (token.type !== 'citation') return
      const { numbers, ordinal } = token as CitationToken
      found.push(`${ordinal}:${numbers}`)
    })
  }
  return found
}

test('maths stands between dollars or backslashed brackets', () => {
  assert.deepEqual(findMaths('Take $a^2$ and \\(b\\).'), ['a^2', 'b'])
  assert.deepEqual(findMaths('So:\n$$\nx = 1\n$$\nand \\[ y \\]'), ['x = 1', 'y'])
  assert.deepEqual(findMaths('Inside $$z$$ a line'), ['z'])
})

test('prices and code are no maths', () => {
  assert.deepEqual(findMaths('It costs $5 today and $10 tomorrow.'), [])
  assert.deepEqual(findMaths('From $5-$10, or US$ 3$.'), [])
  assert.deepEqual(findMaths('`$a$` and\n```\n$$b$$\n```'), [])
})

test('citations count through a block', () => {
  assert.deepEqual(findCitations('Both [1, 3], then **bold [2]**.'), ['0:1,3', '2:2'])
  assert.deepEqual(findCitations('- one [1]\n- two [1]\n'), ['0:1', '1:1'])
  assert.deepEqual(findCitations('Two [1][2]'), ['0:1', '1:2'])
})

test('links, code and definitions are no citations', () => {
  assert.deepEqual(findCitations('[1](https://a.example) `a[1]` \\[1]'), [])
  assert.deepEqual(findCitations('```\nb[1]\n```'), [])
})

test('a footnote keeps its indented lines', () => {
  const [, note] = splitBlocks('A claim.[^a]\n\n[^a]: First\n    second\n\nAfter', false)
  assert.equal(note?.tokens[0]?.type, 'note')
  assert.match(note?.raw ?? '', /second/)
  assert.doesNotMatch(note?.raw ?? '', /After/)
})
