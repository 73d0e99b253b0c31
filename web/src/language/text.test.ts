import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BUILT_IN } from '#catalogue/built-in.ts'
import german from './de.json' with { type: 'json' }

const SOURCES = join(import.meta.dirname, '..')

/** Words for codes of the processor, which `describeCode` makes. */
const CODES =
  /^(?:Canceled|Credit not processed|Duplicate|Fraudulent|Incomplete expired|Past due|Product not received|Product unacceptable|Requested by customer|Subscription canceled|Succeeded|Trialing|Uncollectible|Under review|Unpaid|Unrecognized|Void|Warning closed|Warning needs response|Warning under review|Won)$/

const readEnd = (text: string) => /[.?!…]$/.exec(text)?.[0]
const readPlaces = (text: string) => [...text.matchAll(/\{\d?\}/g)].map(String).sort()

test('a German text has the places, the spaces and the last sign of the English one', () => {
  for (const [english, text] of Object.entries(german)) {
    assert.deepEqual(readPlaces(text), readPlaces(english), english)
    assert.equal(text.startsWith(' '), english.startsWith(' '), english)
    assert.equal(text.endsWith(' '), english.endsWith(' '), english)
    assert.equal(readEnd(text), readEnd(english.replace(/\|.*/, '')), english)
  }
})

/** Words that every second English sentence has, and no German one. */
const ENGLISH = /\b(?:the|your|you|with|and|for|from|this|are|of|not|yet|is|to)\b/i

test('no German text has English words', () => {
  assert.deepEqual(
    Object.values(german).filter((text) => ENGLISH.test(text)),
    [],
  )
})

test('every German text is in use', () => {
  const sources = globSync('**/*.{ts,tsx}', { cwd: SOURCES })
    .filter((file) => !file.includes('.test.'))
    .map((file) => readFileSync(join(SOURCES, file), 'utf8').replaceAll("\\'", "'"))
    .join('\n')
  const features = BUILT_IN.plans.flatMap((plan) => plan.features)
  const unused = Object.keys(german).filter(
    (text) =>
      !sources.includes(text) &&
      // `plural` adds an s.
      !sources.includes(`'${text.replace(/s$/, '')}'`) &&
      !features.includes(text) &&
      !CODES.test(text),
  )
  assert.deepEqual(unused, [])
})

test('every feature of a built-in plan has a German text', () => {
  const features = BUILT_IN.plans.flatMap((plan) => plan.features)
  assert.deepEqual(
    features.filter((feature) => !Object.hasOwn(german, feature)),
    [],
  )
})
