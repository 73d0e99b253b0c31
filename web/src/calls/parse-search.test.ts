import assert from 'node:assert/strict'
import test from 'node:test'
import { parseSearch } from './parse-search.ts'

test('a search is parsed as a request ID, a label or an end user', () => {
  const id = '0190A6A8-0000-7000-8000-00000000000f'
  assert.deepEqual(parseSearch(id), { request_id: id.toLowerCase() })
  assert.deepEqual(parseSearch('team:blue green'), { label: 'team:blue green' })
  assert.deepEqual(parseSearch('customer 7'), { end_user: 'customer 7' })
  assert.deepEqual(parseSearch('customer 7: late'), { end_user: 'customer 7: late' })
})
