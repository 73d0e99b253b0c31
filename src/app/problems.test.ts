import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import phrases from '#platform/phrases.de.json' with { type: 'json' }
import { translatePhrase } from '#platform/phrases.ts'
import { Problem } from '#platform/problem.ts'
import { ERROR_PAGE, errorPage } from './error-page.ts'
import { catalogues } from './problems.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const entries = Object.entries(catalogues).flatMap(([room, catalogue]) =>
  Object.entries(catalogue).map(([code, [status, sentence]]) => ({
    room,
    code,
    status: [status].flat(),
    sentence,
  })),
)
const sources = (pattern: string) =>
  globSync(pattern, { cwd: ROOT })
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

test('every room that has problems is in the list of all', () => {
  const rooms = globSync('src/*/problems.ts', { cwd: ROOT, exclude: ['src/app/**'] }).map(
    (file) => file.split('/')[1],
  )
  assert.deepEqual(Object.keys(catalogues).sort(), rooms.sort())
})

test('a code is a word in snake_case, of one room, with the status of an error', () => {
  const seen = new Set<string>()
  for (const { code, status } of entries) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(!seen.has(code), `${code} is in two rooms`)
    seen.add(code)
    for (const one of status) assert.ok(one >= 400 && one < 600, code)
  }
})

test('every problem is still thrown somewhere', () => {
  const words = new Set<string>()
  for (const { file, text } of sources('src/**/*.ts')) {
    if (file.endsWith('/problems.ts') && !file.startsWith('src/platform')) continue
    for (const [, word = ''] of text.matchAll(/['`](\w+)['`]/g)) words.add(word)
  }
  // Named by what the database's failure is.
  const idle = entries.filter(({ code }) => !words.has(code) && !code.startsWith('database_'))
  assert.deepEqual(
    idle.map(({ code }) => code),
    [],
  )
})

test('no page of the user app knows a sentence of the service: a sentence may be reworded', () => {
  const known: string[] = []
  for (const { file, text } of sources('web/src/**/*.{ts,tsx}')) {
    for (const { sentence } of entries) {
      if (text.includes(`'${sentence}'`) || text.includes(`"${sentence}"`))
        known.push(`${file}: ${sentence}`)
    }
  }
  assert.deepEqual(known, [])
})

test('a sentence is filled with what it is thrown with, once', () => {
  const problem = Problem.define({
    full: [[409, 400], 'At most {max} {things}', null, 'quota'],
  })
  const thrown = problem('full', { max: 3, things: '{max}' }, { status: 400 })
  assert.deepEqual([thrown.code, thrown.status, thrown.detail], ['full', 400, 'At most 3 {max}'])
  assert.deepEqual([problem('full', { max: 3, things: 'x' }).status, thrown.alias], [409, 'quota'])
  assert.ok(problem.is(thrown, 'full') && !problem.is(new Error('full'), 'full'))
})

test('a code that no catalogue has does not compile, nor a sentence without its values', () => {
  const problem = Problem.define({ gone: [404, 'Gone'], full: [409, 'At most {max}'] })
  // @ts-expect-error: there is no such code
  assert.throws(() => problem('missing'))
  // @ts-expect-error: the sentence names `max`
  assert.throws(() => problem('full'))
  // @ts-expect-error: it has one status
  problem('gone', { status: 410 })
  // @ts-expect-error: only a catalogue makes problems
  assert.ok(new Problem('gone', [404, 'Gone'], 'Gone', {}))
})

test('docs/errors.md is current (npm run docs writes it)', () => {
  assert.equal(readFileSync(ERROR_PAGE, 'utf8'), errorPage())
})

const TEXT = /\s*(?<quote>['"`])(?<said>(?:(?!\k<quote>)[^$]|\$\{[^{}'`]*\})+)\k<quote>/.source
/** What code says about a field: `invalid(['body', 'name'], 'Should …')`. */
const INVALID = new RegExp(`\\binvalid\\(\\s*(?:\\[[^\\]]*\\]|\\w+),${TEXT}`, 'g')
/** Finds texts about a field, a file or a check that do not go through `invalid`. */
const SAID = new RegExp(
  `(?:\\b(?:refuse|unreadable|Unreadable|wrong)\\(|\\bweak\\([^,]*,|\\b(?:msg|says|reason):)${TEXT}`,
  'g',
)
const TABLES = [
  phrases.issues,
  phrases.files,
  phrases.checks,
  phrases.values.release_refused,
  phrases.values.bad_request,
]

test('what the service says about fields, files and checks has a German phrase', () => {
  const files = [
    'platform',
    'identity/{account,passwords}',
    'rag',
    'brand',
    'checks',
    'storefront',
    'usage',
    'admin',
  ]
  // The `invalid` of these folders makes replies of model vendors.
  const vendors = /^src\/(testing|sandbox)\//
  const invalid = sources('src/**/*.ts')
    .filter(({ file }) => !vendors.test(file))
    .flatMap((source) => findPhrases(source, INVALID))
  const others = sources(`src/{${files.join()}}/**/*.ts`).flatMap((source) =>
    findPhrases(source, SAID),
  )
  assert.ok(invalid.length >= 50, `found only ${invalid.length} texts about fields`)
  assert.ok(others.length >= 100, `found only ${others.length} other texts`)
  const missing = [...invalid, ...others.filter(({ phrase }) => /[a-z]{2} [a-z]/.test(phrase))]
    .filter(({ phrase }) => !hasGerman(phrase))
    .map(({ file, phrase }) => `${file}: ${phrase}`)
  assert.deepEqual(missing, [])
})

const findPhrases = ({ file, text }: ReturnType<typeof sources>[number], pattern: RegExp) =>
  [...text.matchAll(pattern)].map(({ groups }) => ({
    file,
    phrase: (groups?.said ?? '').replace(/\$\{.*?\}/g, '1').trim(),
  }))

const hasGerman = (phrase: string) =>
  TABLES.some((table) =>
    [phrase, `X: ${phrase}`, `http://a ${phrase}`].some(
      (one) => translatePhrase(table, one) !== null,
    ),
  )
