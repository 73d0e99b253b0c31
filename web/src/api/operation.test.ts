import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { api } from './client.ts'
import { buildAddress } from './operation.ts'
import type { GetStatsResponse, ListUsersResponse } from './schema.d.ts'

test('a path parameter stays one segment of the address', () => {
  const address = '/api/rag/documents/{document_id}'
  for (const [id, segment] of [
    ['b2f1', 'b2f1'],
    ['../users/me', '..%2Fusers%2Fme'],
    ['a?full=true#b', 'a%3Ffull%3Dtrue%23b'],
    ['{document_id}', '%7Bdocument_id%7D'],
    ['$&', '%24%26'],
  ] as const) {
    assert.equal(
      buildAddress(address, { path: { document_id: id } }),
      `/api/rag/documents/${segment}`,
    )
  }
  assert.throws(() => buildAddress(address, {}), /document_id/)
  assert.throws(
    () => buildAddress(address, { path: { document_id: '..' } }),
    /document_id/,
    'a browser would go up by it',
  )
})

test('a query omits undefined values and encodes the others', () => {
  assert.equal(
    buildAddress('/api/usage/calls', {
      query: { label: 'team:a&b', cursor: undefined, limit: 50 },
    }),
    '/api/usage/calls?label=team%3Aa%26b&limit=50',
  )
  assert.equal(buildAddress('/api/usage', { query: { from: undefined } }), '/api/usage')
})

// Checked by the compiler: each marked line must be an error.
export async function compiled({ get, post, patch, delete: remove }: typeof api) {
  const stats: GetStatsResponse = await get('/api/admin/stats')
  const users: ListUsersResponse = await get('/api/admin/users', { query: { page: 2 } })
  // @ts-expect-error Unknown address.
  await get('/api/admin/stat')
  // @ts-expect-error Unknown method.
  await post('/api/admin/stats')
  // @ts-expect-error Wrong reply type.
  const wrong: ListUsersResponse = await get('/api/admin/stats')
  // @ts-expect-error A page must be a number.
  await get('/api/admin/users', { query: { page: 'second' } })
  // @ts-expect-error Unknown parameter.
  await get('/api/admin/users', { query: { pages: 2 } })
  // @ts-expect-error Missing parameter.
  await post('/api/billing/create-checkout-session')
  // @ts-expect-error Missing body.
  await post('/api/auth/login')
  // @ts-expect-error Missing property of the body.
  await post('/api/auth/login', { email: 'ada@example.com' })
  // @ts-expect-error The operation has no body.
  await post('/api/admin/jobs/{id}/retry', { id: '1' }, { path: { id: '1' } })
  // @ts-expect-error Missing path parameter.
  await patch('/api/admin/users/{id}', { is_active: false })
  // @ts-expect-error Wrong name of the path parameter.
  await remove('/api/api-keys/{key_id}', undefined, { path: { id: '1' } })
  // @ts-expect-error A file is not JSON.
  await post('/api/rag/ingest/file')
  return { stats, users, wrong }
}
