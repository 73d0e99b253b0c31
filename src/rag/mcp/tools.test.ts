import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '#platform/http/access-control.ts'
import type { RagDeps } from '../deps.ts'
import { callTool, listTools } from './tools.ts'

const callerWith = (scopes: string[] | null) => ({ userId: 'ada', scopes }) as unknown as Caller
/** Using any dependency here would be a bug. */
const nothing = {} as RagDeps

test('a read-only key neither lists nor calls the tools that write', async () => {
  const readers = ['search', 'ask', 'fetch', 'list_collections', 'list_documents']
  const shown = (scopes: string[] | null) =>
    listTools(callerWith(scopes)).map((one) => (one as { name: string }).name)
  assert.deepEqual(shown(['rag:read']), readers)
  for (const scopes of [null, ['rag'], ['rag:read', 'rag']])
    assert.deepEqual(shown(scopes), [...readers, 'ingest', 'delete_document'])

  const call = {
    caller: callerWith(['rag:read']),
    route: '/mcp',
    signal: new AbortController().signal,
  }
  for (const [name, input] of [
    ['ingest', { content: 'Not mine to say.' }],
    ['delete_document', { id: '0123456789ab' }],
  ]) {
    await assert.rejects(callTool(nothing, call, { name, arguments: input }), {
      code: 'scope_missing',
      status: 403,
    })
  }
})
