import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrations } from './migrations.ts'

// By its name alone a column of SQLite is read as what it is, and carried to PostgreSQL.
test('a column is called is_… where it is a boolean, …_json where it is an object, and nowhere else', () => {
  const columns = migrations.flatMap(({ id, sql }) =>
    [...sql.matchAll(/(\w+) \{(\w+)\}/g)].map(([, name = '', type = '']) => ({ id, name, type })),
  )
  assert.ok(
    columns.some(({ type }) => type === 'boolean') && columns.some(({ type }) => type === 'json'),
  )
  for (const { id, name, type } of columns) {
    assert.equal(type === 'boolean', name.startsWith('is_'), `${name} of ${id} is {${type}}`)
    assert.equal(type === 'json', name.endsWith('_json'), `${name} of ${id} is {${type}}`)
  }
})
