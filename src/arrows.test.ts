// Holds the rooms to their arrows: who may import whom, and who may speak SQL to which table.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const SRC = import.meta.dirname

/** A room may import the rooms on the right, the platform, and the configuration's types. */
const MAY_IMPORT: Record<string, string[]> = {
  models: [],
  platform: [],
  catalogue: [],
  audit: [],
  embeddings: [],
  mail: [],
  identity: ['audit', 'mail'],
  billing: ['audit', 'mail', 'identity'],
  'api-keys': ['audit', 'identity', 'billing'],
  usage: [],
  ai: ['models', 'embeddings', 'usage'],
  rag: ['models', 'embeddings', 'usage', 'ai'],
  storefront: ['audit', 'mail', 'identity', 'billing'],
  admin: ['audit', 'mail', 'identity', 'billing', 'api-keys', 'usage', 'ai', 'rag', 'storefront'],
  sandbox: [],
  cli: ['audit', 'mail', 'identity', 'billing', 'api-keys', 'usage', 'ai', 'rag', 'storefront', 'admin'],
}

const files = globSync('**/*.ts', { cwd: SRC }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('testing/'),
)
const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

test('rooms import only along the arrows', () => {
  const wrong: string[] = []
  for (const file of files) {
    const room = roomOf(file)
    if (room === '') continue
    for (const specifier of importsOf(file)) {
      const target = targetOf(file, specifier)
      if (target === null || target === room || target === 'platform') continue
      // The configuration's types and its catalogue are everyone's; their readers are not.
      if (target === 'config.ts' || specifier.endsWith('catalogue/catalogue.ts')) continue
      if (room === 'cli' && ['service.ts', 'user-app.ts'].includes(target)) continue
      if (!MAY_IMPORT[room]?.includes(target)) wrong.push(`${file} imports ${specifier}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('only config.ts reads the environment', () => {
  const wrong = files.filter(
    (file) => file !== 'config.ts' && /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8')),
  )
  assert.deepEqual(wrong, [])
})

test('only the room that declares a table speaks SQL to it', () => {
  const owners = new Map<string, string>()
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8')
    for (const block of text.matchAll(/interface Tables \{([^}]*)\}/g)) {
      for (const name of (block[1] ?? '').matchAll(/^\s*(\w+):/gm)) owners.set(name[1] ?? '', roomOf(file))
    }
  }
  const wrong: string[] = []
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8')
    for (const match of text.matchAll(
      /\b(?:selectFrom|insertInto|updateTable|deleteFrom|innerJoin|leftJoin)\(\s*'(\w+)/g,
    )) {
      const owner = owners.get(match[1] ?? '')
      if (owner !== undefined && owner !== roomOf(file)) wrong.push(`${file} speaks to ${match[1]} of ${owner}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('no file imports itself in a circle of rooms', () => {
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    for (const other of allowed) assert.ok(!MAY_IMPORT[other]?.includes(room), `${room} and ${other} use each other`)
  }
})

/** The room (or top file) that a specifier leads to; null for a package. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('#src/')) return specifier.slice('#src/'.length)
  if (specifier.startsWith('#')) return specifier.slice(1).split('/')[0] ?? null
  if (!specifier.startsWith('.')) return null
  const path = relative(SRC, join(SRC, dirname(file), specifier))
  return path.includes('/') ? (path.split('/')[0] ?? null) : path
}
