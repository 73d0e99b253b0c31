/**
 * Reads the examples of all operations for the API descriptions. Tests record them
 * (testing/example-walk.ts).
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Example } from '#platform/http/openapi.ts'

export const EXAMPLES_FILE = join(import.meta.dirname, '..', '..', 'docs', 'examples.json')

/** Examples by server and operation. */
export type Examples = { api: Record<string, Example>; storefront: Record<string, Example> }

/** Returns no examples when the file is not shipped. */
export function readExamples(): Examples {
  if (!existsSync(EXAMPLES_FILE)) return { api: {}, storefront: {} }
  return JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples
}
