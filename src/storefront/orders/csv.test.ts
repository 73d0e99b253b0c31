import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLine } from './csv.ts'

test('cells with separators are quoted, and formulas stay text', () => {
  assert.equal(formatLine(['a', 7, null, 'b,c', 'd"e', 'f\ng']), 'a,7,,"b,c","d""e","f\ng"\r\n')
  assert.equal(formatLine(['=1+1', '@x', '+49', '-1', -1]), "'=1+1,'@x,'+49,'-1,-1\r\n")
})
