import assert from 'node:assert/strict'
import test from 'node:test'
import { closeMarks } from './close-marks.ts'

test('open marks are closed, the inner one first', () => {
  assert.equal(closeMarks('**bo'), '**bo**')
  assert.equal(closeMarks('a *b **c'), 'a *b **c***')
  assert.equal(closeMarks('run `np'), 'run `np`')
  assert.equal(closeMarks('~~no '), '~~no~~')
})

test('complete text stays as it is', () => {
  for (const text of [
    '**bold** and *more*',
    'snake_case and 2 * 3',
    '* item',
    '`a **b`',
    'so \\*this',
    'costs $5',
  ])
    assert.equal(closeMarks(text), text)
})

test('only the last paragraph, item or cell is completed', () => {
  assert.equal(closeMarks('an open **mark\n\nthen'), 'an open **mark\n\nthen')
  assert.equal(closeMarks('- **one\n- two'), '- **one\n- two')
  assert.equal(closeMarks('| **a | b'), '| **a | b')
  assert.equal(closeMarks('- *one'), '- *one*')
})

test('a mark without text behind it is not shown', () => {
  assert.equal(closeMarks('then **'), 'then ')
  assert.equal(closeMarks('then `'), 'then ')
})

test('targets of links, images and maths wait for their end', () => {
  assert.equal(closeMarks('see [the page](https://exa'), 'see the page')
  assert.equal(closeMarks('see ![a pict'), 'see ')
  assert.equal(closeMarks('so $$x^'), 'so ')
  assert.equal(closeMarks('so $$x$$ is'), 'so $$x$$ is')
  assert.equal(closeMarks('so \\(x'), 'so ')
})
