import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeErrors, formatFields, readFields } from './brand-fields.ts'

test('a form survives the way to fields and back', () => {
  for (const form of [
    {},
    { name: 'Zebra', radius: 0, links: { terms: 'https://zebra.example/terms' } },
    {
      logo: { light: 'data:image/png;base64,AA==' },
      mail: { footer: 'One\nTwo', colour: '#112233' },
    },
  ])
    assert.deepEqual(readFields(formatFields(form)), form)
})

test('empty fields and groups are left out, and texts are trimmed', () => {
  const fields = { name: ' Zebra ', tagline: ' ', radius: '', 'links.terms': '', 'mail.footer': '' }
  assert.deepEqual(readFields(fields), { name: 'Zebra' })
})

test('errors of patterns say what to enter', () => {
  const errors = { 'links.terms': 'pattern', 'colours.primary': 'pattern', 'mail.colour': 'pale' }
  const fields = { 'colours.primary': 'red', 'mail.colour': '#facc15' }
  assert.deepEqual(describeErrors(fields, errors), {
    'links.terms': 'Start with https://',
    'colours.primary': 'Enter a color such as #1d4ed8',
    'mail.colour': 'pale',
  })
})
