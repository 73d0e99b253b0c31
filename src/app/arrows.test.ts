// The rooms' architecture: who may import whom, and who may speak SQL to which table.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const SRC = join(import.meta.dirname, '..')
const ROOT = dirname(SRC)

/** A room may import the rooms on the right, the platform, and the configuration's types. */
const MAY_IMPORT: Record<string, string[]> = {
  config: ['models', 'catalogue', 'brand'],
  models: [],
  platform: [],
  catalogue: [],
  audit: [],
  brand: ['audit'],
  embeddings: [],
  mail: ['brand'],
  identity: ['brand', 'audit', 'mail'],
  billing: ['audit', 'mail', 'identity'],
  'api-keys': ['audit', 'identity'],
  usage: [],
  ai: ['models', 'embeddings', 'usage', 'switches'],
  rag: ['models', 'embeddings', 'ai'],
  conversations: ['models', 'ai', 'rag'],
  storefront: ['brand', 'catalogue', 'audit', 'mail', 'identity', 'billing'],
  site: ['ai', 'storefront', 'switches', 'usage'],
  switches: ['audit', 'identity', 'api-keys', 'models'],
  admin: [
    'brand',
    'audit',
    'mail',
    'identity',
    'billing',
    'api-keys',
    'storefront',
    'usage',
    'switches',
    'ai',
    'rag',
    'checks',
  ],
  setup: ['config', 'audit', 'mail', 'identity', 'billing', 'ai', 'storefront', 'switches'],
  checks: ['mail', 'billing', 'storefront', 'models', 'rag'],
  sandbox: [],
  cli: [
    'app',
    'config',
    'audit',
    'mail',
    'identity',
    'billing',
    'models',
    'usage',
    'ai',
    'rag',
    'storefront',
    'switches',
    'checks',
  ],
}

const files = globSync('**/*.ts', { cwd: SRC }).filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('testing/'),
)
const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

test('rooms import along the arrows, and every arrow is used', () => {
  const used = Object.fromEntries(Object.keys(MAY_IMPORT).map((room) => [room, new Set<string>()]))
  const wrong: string[] = []
  for (const file of files) {
    const room = roomOf(file)
    if (room === '' || room === 'app') continue
    for (const specifier of importsOf(file)) {
      const target = targetOf(file, specifier)
      if (target === null || target === room || target === 'platform') continue
      // The configuration's types and its catalogue are everyone's; their readers are not.
      if (/(config\/config|catalogue\/catalogue)\.ts$|package\.json$/.test(specifier)) continue
      used[room]?.add(target)
      if (!MAY_IMPORT[room]?.includes(target)) wrong.push(`${file} imports ${specifier}`)
    }
  }
  assert.deepEqual(wrong, [])
  const unused = Object.entries(MAY_IMPORT).flatMap(([room, targets]) =>
    targets
      .filter((target) => !used[room]?.has(target))
      .map((target) => `${room} does not use ${target}`),
  )
  assert.deepEqual(unused, [])
})

/**
 * Inside identity, each folder or file on the left may import the folders on the right and the
 * files beside them.
 */
const IDENTITY_MAY_IMPORT: Record<string, string[]> = {
  sessions: [],
  passwords: ['sessions'],
  'second-factors': ['sessions'],
  'sign-in': ['sessions', 'passwords', 'second-factors'],
  account: ['sessions', 'passwords', 'second-factors', 'sign-in'],
  oauth: ['sessions', 'sign-in', 'account'],
  admin: ['sessions', 'passwords', 'sign-in'],
  // They ask for a step-up, which asks for a second factor's code.
  'second-factors/routes.ts': ['sign-in'],
  'identity.ts': [
    'sessions',
    'passwords',
    'second-factors',
    'sign-in',
    'account',
    'oauth',
    'admin',
  ],
}

test('the folders of identity import only along their arrows', () => {
  const wrong: string[] = []
  for (const file of files.filter((file) => file.startsWith('identity/'))) {
    const inside = file.slice('identity/'.length)
    const folder = roomOf(inside)
    const allowed = IDENTITY_MAY_IMPORT[inside] ?? IDENTITY_MAY_IMPORT[folder] ?? []
    for (const specifier of importsOf(file).filter((specifier) => specifier.startsWith('.'))) {
      const target = roomOf(join(dirname(inside), specifier))
      if (!['', '..', folder, ...allowed].includes(target))
        wrong.push(`${file} imports ${specifier}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('only config/config.ts reads the environment', () => {
  const wrong = files.filter(
    (file) =>
      file !== 'config/config.ts' && /process\.env\b/.test(readFileSync(join(SRC, file), 'utf8')),
  )
  assert.deepEqual(wrong, [])
})

test('only the room that declares a table speaks SQL to it', () => {
  const owners = new Map<string, string>()
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8')
    for (const block of text.matchAll(/interface Tables \{([^}]*)\}/g)) {
      for (const name of (block[1] ?? '').matchAll(/^\s*(\w+):/gm))
        owners.set(name[1] ?? '', roomOf(file))
    }
  }
  const wrong: string[] = []
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8')
    for (const match of text.matchAll(
      /\b(?:selectFrom|insertInto|updateTable|deleteFrom|innerJoin|leftJoin)\(\s*'(\w+)/g,
    )) {
      const owner = owners.get(match[1] ?? '')
      if (owner !== undefined && owner !== roomOf(file))
        wrong.push(`${file} speaks to ${match[1]} of ${owner}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('the migrations of every room that has some are in the list of all', () => {
  const rooms = (list: string[]) =>
    list.filter((name) => name.endsWith('/migrations.ts')).map(roomOf)
  const listed = importsOf('app/migrations.ts').map((specifier) => specifier.slice(1))
  assert.deepEqual(
    rooms(listed).sort(),
    rooms(files)
      .filter((room) => room !== 'app')
      .sort(),
  )
})

test('the platform knows no room: neither its name, buckets, paths and cookies, nor tiers and vendors', () => {
  const foreign =
    /\b(rag|billing|storefront|store_session|signup|sandbox|stripe|openai|anthropic|gemini|google|github|enterprise)\b|['`/](ai|v1|mcp|pro)\b|\/api\b/i
  const wrong = files.flatMap((file) => {
    if (roomOf(file) !== 'platform') return []
    const text = readFileSync(join(SRC, file), 'utf8').replaceAll(/https:\S+/g, '')
    const found = foreign.exec(text)
    return found ? [`${file} speaks of ${found[0]}`] : []
  })
  assert.deepEqual(wrong, [])
})

test('no file imports itself in a circle of rooms', () => {
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    for (const other of allowed)
      assert.ok(!MAY_IMPORT[other]?.includes(room), `${room} and ${other} use each other`)
  }
})

test('no file of the service imports itself in a circle of files, not for a type either', () => {
  assert.deepEqual(circles(SRC), [])
})

test('nor does one of the user app, where a page that is loaded later counts', () => {
  assert.deepEqual(circles(join(SRC, '..', 'web', 'src')), [])
})

/** Every import that leads back to the file it stands in; tests count, too. */
function circles(root: string): string[] {
  const paths = globSync('**/*.{ts,tsx}', { cwd: root })
  const imports = new Map(paths.map((path) => [path, new Set<string>()]))
  for (const [from, targets] of imports) {
    for (const specifier of importsOf(relative(SRC, join(root, from)))) {
      const to = pathOf(root, from, specifier)
      if (imports.has(to)) targets.add(to)
    }
  }
  return paths.flatMap((from) =>
    [...(imports.get(from) ?? [])]
      .filter((to) => reachable(to).has(from))
      .map((to) => `${from} imports ${to}`),
  )

  function reachable(start: string): Set<string> {
    const seen = new Set([start])
    for (const path of seen) for (const next of imports.get(path) ?? []) seen.add(next)
    return seen
  }
}

/**
 * Where a specifier of the file `from` leads to, as a path below `root`; outside of it for a
 * package.
 */
function pathOf(root: string, from: string, specifier: string): string {
  if (specifier.startsWith('#')) return relative(root, join(SRC, specifier.slice(1)))
  return specifier.startsWith('.') ? join(dirname(from), specifier) : join('..', specifier)
}

/** The room (or top file) that a specifier leads to; null for a package. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return specifier.slice(1).split('/')[0] ?? null
  if (!specifier.startsWith('.')) return null
  const path = relative(SRC, join(SRC, dirname(file), specifier))
  return path.includes('/') ? (path.split('/')[0] ?? null) : path
}

test('a file’s head comment describes the file in plain words', () => {
  const root = join(SRC, '..')
  const all = ['src', 'web/src', 'e2e', 'bench', 'scripts'].flatMap((folder) =>
    globSync('**/*.{ts,tsx}', { cwd: join(root, folder), exclude: ['**/node_modules'] }).map(
      (file) => join(folder, file),
    ),
  )
  const wrong = all.filter((file) =>
    /^(?:\/\/|\/\*\*| \*) *(?:Guards|The one thing|One thing to know)\b/m.test(
      headOf(join(root, file)),
    ),
  )
  assert.deepEqual(wrong, [])
})

const headOf = (path: string) => readFileSync(path, 'utf8').slice(0, 500)

test('a test that a document names is there', () => {
  const documents = globSync(['*.md', 'docs/*.md'], { cwd: ROOT })
  const named = documents.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(
        /(?<![*.\w])[\w/-]+(?:\.(?:http|db|wire))?\.test\.tsx?/g,
      ),
    ].map(([path]) => ({ file, path })),
  )
  assert.ok(named.length > 10)
  const known = globSync(['{src,web/src,e2e,scripts}/**/*.test.{ts,tsx}'], { cwd: ROOT })
  assert.deepEqual(
    named.filter(({ path }) => !known.some((one) => one === path || one.endsWith(`/${path}`))),
    [],
  )
  // "a test", "another" in `its file`
  for (const [, titles = '', path = ''] of readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').matchAll(
    /((?:"[^"|]+"(?:, )?)+) in `([^`]+)`/g,
  )) {
    const file = readFileSync(join(ROOT, path), 'utf8')
    for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g))
      assert.ok(file.includes(title), `${path}: ${title}`)
  }
})
