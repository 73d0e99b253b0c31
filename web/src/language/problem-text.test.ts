import assert from 'node:assert/strict'
import { test } from 'node:test'
import phrases from '../../../src/platform/phrases.de.json' with { type: 'json' }
import { translateProblem, translateSentence } from './problem-text.ts'

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

test('phrases in an error, and about a field or a check, are in the language of the page', (t) => {
  const problems = {
    model_not_allowed: ["The model '{model}' is not part of {whose}", '„{model}“ fehlt in {whose}'],
    file_unreadable: 'Die Datei ist nicht lesbar',
  }
  Object.assign(globalThis, { problems, phrases })
  t.after(() => Object.assign(globalThis, { problems: undefined, phrases: undefined }))
  assert.equal(
    translateProblem('model_not_allowed', "The model 'gpt-6' is not part of your plan"),
    '„gpt-6“ fehlt in Ihrem Tarif',
  )
  assert.equal(translateProblem('file_unreadable', 'The file is empty.'), 'Die Datei ist leer.')
  assert.equal(translateProblem('file_unreadable', 'New words'), 'Die Datei ist nicht lesbar')
  assert.equal(
    translateSentence('issues', 'Should have at most 20 characters'),
    'Höchstens 20 Zeichen',
  )
  assert.equal(translateSentence('checks', 'Sign-in google'), 'Anmeldung google')
  assert.equal(translateSentence('checks', 'something new'), 'something new')
})
