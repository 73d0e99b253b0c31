import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import { closeWithQuery } from './close-with-query.ts'

test('closes data when the query is replaced or removed', async () => {
  const client = new QueryClient()
  const queryKey = ['file', 'a']
  const closed: number[] = []
  let opened = 0
  const open = () =>
    client.fetchQuery({
      queryKey,
      queryFn: async () => {
        const number = ++opened
        const file = { number }
        closeWithQuery(client, queryKey, file, () => closed.push(number))
        return file
      },
    })
  await open()
  await client.fetchQuery({ queryKey: ['file', 'b'], queryFn: () => 1 })
  assert.deepEqual(closed, [])
  await open()
  await new Promise(setImmediate)
  assert.deepEqual(closed, [1])
  client.removeQueries({ queryKey })
  await new Promise(setImmediate)
  assert.deepEqual(closed, [1, 2])
  client.clear()
})
