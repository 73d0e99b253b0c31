import assert from 'node:assert/strict'
import { test } from 'node:test'
import { translateProblem } from './problem-text.ts'

const scope = ['This key has no scope {scope} ({why})', '{why}: Dem Schlüssel fehlt {scope}']

test('an error has its sentence in the language of the page, with its values', (t) => {
  Object.assign(globalThis, { problems: { taken: 'Schon vergeben', scope_missing: scope } })
  t.after(() => Object.assign(globalThis, { problems: undefined }))
  assert.equal(translateProblem('taken', 'Already taken'), 'Schon vergeben')
  assert.equal(
    translateProblem('scope_missing', 'This key has no scope rag:read (a.b)'),
    'a.b: Dem Schlüssel fehlt rag:read',
  )
  assert.equal(translateProblem('scope_missing', 'Another sentence'), 'Another sentence')
  assert.equal(translateProblem('new_code', 'Something else'), 'Something else')
})
