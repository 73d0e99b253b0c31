import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Check } from 'typebox/schema'
import { buildSample } from './sample.ts'

const words = { answer: 'The shop opens at nine.', question: 'What is the weather in Paris?' }

const SCHEMAS: Record<string, Record<string, unknown>> = {
  'no type': {},
  'a text': { type: 'string' },
  'a short text': { type: 'string', maxLength: 5 },
  'a long text': { type: 'string', minLength: 300 },
  'a choice': { enum: ['red', 'green'] },
  'a constant': { const: 42 },
  'a whole number': { type: 'integer', minimum: 7, maximum: 9 },
  'a whole number between': { type: 'integer', exclusiveMinimum: 7, exclusiveMaximum: 9 },
  'a multiple': { type: 'integer', minimum: 11, multipleOf: 5 },
  'a negative number': { type: 'number', maximum: -3 },
  'a share': { type: 'number', minimum: 0, maximum: 1 },
  'strictly within': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
  'null or a number': { type: ['null', 'number'] },
  'null first': { anyOf: [{ type: 'null' }, { type: 'string' }] },
  'one of two': {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] },
      { type: 'null' },
    ],
  },
  'all of two': {
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
    ],
  },
  'a list': { type: 'array', items: { type: 'integer' }, minItems: 3 },
  'a list of different ones': {
    type: 'array',
    items: { type: 'string' },
    minItems: 3,
    uniqueItems: true,
  },
  'a pair': {
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'number' }],
    items: false,
    minItems: 2,
  },
  'a date': {
    type: 'object',
    properties: { on: { type: 'string', format: 'date' } },
    required: ['on'],
  },
  'a pattern': { type: 'string', pattern: '^[A-Z]{3}-\\d{4}(?:-x|-y)?$' },
  'a nested object': {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'address', 'tags'],
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/Address' },
      tags: { type: 'array', items: { enum: ['new', 'old'] } },
    },
    $defs: {
      Address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
  'a tree': {
    type: 'object',
    properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['value', 'children'],
  },
  'a name that is a trap': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  ),
}

for (const [name, schema] of Object.entries(SCHEMAS)) {
  test(`the sample matches its schema: ${name}`, () => {
    const made = buildSample(schema, words)
    assert.ok(Check(schema, made), JSON.stringify(made))
  })
}

test('fills answer fields with the answer and question fields with the question', () => {
  const properties = {
    query: { type: 'string' },
    summary: { type: 'string' },
    city: { type: 'string' },
  }
  assert.deepEqual(buildSample({ type: 'object', properties }, words), {
    query: words.question,
    summary: words.answer,
    city: 'Paris',
  })
})

test('returns a value for contradictory schemas, in bounded time', () => {
  const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }
  const endless = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  const wide = { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } }
  for (const schema of [
    loop,
    endless,
    wide,
    null,
    7,
    'text',
    [],
    { type: 9 },
    { enum: [] },
    { $ref: '#/nowhere' },
  ]) {
    buildSample(schema, words)
  }
  assert.equal(
    buildSample({ type: 'OBJECT', properties: { a: { type: 'INTEGER' } } }, words) instanceof
      Object,
    true,
  )
})
