/**
 * The API's description for programs: the operations that accept an API key, and the schemas that
 * they refer to. Also public in production, so that developers can generate clients.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Setting } from './library.ts'

type Operation = { tags?: string[]; security?: Record<string, unknown>[] }
type Description = {
  info: { title: string; description?: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
  tags: { name: string }[]
}

const FILE = join(import.meta.dirname, '..', '..', '..', 'docs', 'openapi.json')
const KEY_SCHEMES = ['key', 'key_header']
const REFERENCE = /"\$ref":"#\/components\/schemas\/([^"]+)"/g

export function writeDescription({ brand, urls }: Setting): string {
  const { paths, components, tags, ...rest } = JSON.parse(readFileSync(FILE, 'utf8')) as Description
  const open = Object.entries(paths).flatMap(([path, operations]) => {
    const allowed = Object.entries(operations).filter(([, { security = [] }]) =>
      security.some((scheme) => 'key' in scheme),
    )
    return allowed.length === 0 ? [] : [[path, Object.fromEntries(allowed)] as const]
  })
  const used = new Set(
    open.flatMap(([, one]) => Object.values(one).flatMap(({ tags }) => tags ?? [])),
  )
  return JSON.stringify({
    ...rest,
    info: { ...rest.info, title: brand, description: `The operations of ${brand} for API keys.` },
    servers: [{ url: urls.base }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(open),
    components: {
      securitySchemes: pick(components.securitySchemes, KEY_SCHEMES),
      schemas: pick(components.schemas, findSchemas(open, components.schemas)),
    },
  })
}

function pick(all: Record<string, unknown>, names: Iterable<string>): Record<string, unknown> {
  return Object.fromEntries([...names].map((name) => [name, all[name]]))
}

/** Finds the names of all schemas that a value refers to, also through other schemas. */
function findSchemas(start: unknown, schemas: Record<string, unknown>): Set<string> {
  const found = new Set<string>()
  const waiting = [start]
  for (const value of waiting) {
    for (const [, name = ''] of JSON.stringify(value).matchAll(REFERENCE)) {
      if (found.has(name)) continue
      found.add(name)
      waiting.push(schemas[name])
    }
  }
  return found
}
