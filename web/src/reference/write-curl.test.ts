import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listOperations } from '#app/api-reference.ts'
import { writeCurl } from './write-curl.ts'

const operations = listOperations(
  JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')),
)

function curl(id: string): string {
  const operation = operations.find((one) => one.id === id)
  assert.ok(operation, id)
  return writeCurl(operation, 'https://api.example.com')
}

test('a call has the example as its body, a name for each part of the path, and the key', () => {
  assert.equal(
    curl('searchChunks').split("-d '")[0],
    `curl -X POST "https://api.example.com/api/rag/search" \\
  -H "Authorization: Bearer YOUR_API_KEY" \\
  -H "Content-Type: application/json" \\
  `,
  )
  assert.equal(
    curl('readIngestJob'),
    `curl "https://api.example.com/api/rag/jobs/ID" \\
  -H "Authorization: Bearer YOUR_API_KEY"`,
  )
})

test('a file is sent as a form', () => {
  assert.match(curl('ingestFile'), /-F "file=@lighthouse\.txt"$/)
})
