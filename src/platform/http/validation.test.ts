import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { type ValidationFailure, validatorCompiler } from './validation.ts'

/** The sentences about a body, one for each place. */
function said(schema: object, body: unknown): string[] {
  const validate = validatorCompiler({
    schema,
    httpPart: 'body',
    method: 'POST',
    url: '/',
  } as never)
  const { error } = validate(body) as { error?: ValidationFailure }
  return (error?.issues ?? []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
}

const NAME = Type.String({ pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' })
const MODEL = Type.String({ pattern: '^[ -~]+$' })
const CODE = Type.String({ pattern: '^[A-Z]{2}-[0-9]+$' })

test('an invalid text is explained in a sentence, never as a regular expression', () => {
  const body = Type.Object({ name: NAME, model: MODEL, codes: Type.Array(CODE) })
  const right = { name: 'Ada Lovelace', model: 'gpt-6', codes: ['AB-1'] }
  assert.deepEqual(said(body, right), [])
  for (const [wrong, sentence] of [
    [{ name: 'Ada\nLovelace' }, 'body.name: Should be one line, without control characters'],
    [{ name: 'Ada\u0000' }, 'body.name: Should be one line, without control characters'],
    [{ name: '   ' }, 'body.name: Should not be blank'],
    [{ name: ' \n ' }, 'body.name: Should not be blank'],
    [{ model: 'gpt-é' }, 'body.model: Should hold plain ASCII characters only'],
    [{ codes: ['AB-1', 'ab'] }, 'body.codes.1: Should have the form that the documentation shows'],
  ] as const) {
    assert.deepEqual(said(body, { ...right, ...wrong }), [sentence])
  }
})
