/** An example of every operation, as the tests have recorded it (testing/example-walk.ts); for the API's descriptions alone. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Example } from '#platform/http/openapi.ts'

export const EXAMPLES_FILE = join(import.meta.dirname, '..', '..', 'docs', 'examples.json')

/** By operation, server by server. */
export type Examples = { api: Record<string, Example>; storefront: Record<string, Example> }

/** None where the file is not shipped. */
export function readExamples(): Examples {
  if (!existsSync(EXAMPLES_FILE)) return { api: {}, storefront: {} }
  return JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples
}
