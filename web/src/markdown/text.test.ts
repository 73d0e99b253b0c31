import assert from 'node:assert/strict'
import test from 'node:test'
import { readColouredLength } from './coloured-part.ts'
import { decodeReferences } from './text.ts'

test('character references become characters; unknown ones stay', () => {
  assert.equal(decodeReferences('a &lt; b &amp;&nbsp;c'), 'a < b &\u00a0c')
  assert.equal(decodeReferences('&#65;&#x42;&#0;'), 'AB\ufffd')
  assert.equal(decodeReferences('AT&T &nothing; &#xd800;'), 'AT&T &nothing; \ufffd')
})

test('a growing block of code is colored in few steps, whole lines at a time', () => {
  const code = 'let a = 1\n'.repeat(500)
  const lengths = new Set<number>()
  for (let length = 0; length <= code.length; length++) {
    const coloured = readColouredLength(code.slice(0, length))
    assert.ok(coloured <= length && (coloured === 0 || code[coloured - 1] === '\n'))
    lengths.add(coloured)
  }
  assert.ok(lengths.size < 60, `${lengths.size}`)
  assert.ok(Math.max(...lengths) > code.length * 0.8)
})
