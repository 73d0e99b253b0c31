// Weighted features of a text: stemmed words, parts of words (so that "Steuern" matches
// "Steuererklärung"), and pairs of characters in scripts without spaces. No dictionary and no
// model, so every language is treated equally.
import { listWords } from '#platform/words.ts'
import { quantityWords, questionWords, stopPhrases, stopWords } from './stop-words.ts'

/** Feature (32-bit hash) → its number of occurrences, scaled by the weight of its kind. */
export type Terms = Map<number, number>

const STOP_WEIGHT = 0.1
const PIECE_WEIGHT = 0.2
const SINGLE_WEIGHT = 0.2

// Scripts that write no spaces between words.
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const tokens = new RegExp(`[${UNSPACED}]+|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+`, 'gv')
const unspaced = new RegExp(`^[${UNSPACED}]`, 'v')

export function readTerms(text: string): Terms {
  const terms: Terms = new Map()
  eachFeature(text, (feature, weight) => {
    terms.set(feature, (terms.get(feature) ?? 0) + weight)
  })
  return terms
}

/** Calls `add` for every occurrence of every feature, in the order of the text. */
export function eachFeature(text: string, add: (feature: number, weight: number) => void): void {
  for (const [token] of fold(text).matchAll(tokens)) {
    if (unspaced.test(token)) addPairs(token, add)
    else for (const { feature, weight } of findFeatures(token)) add(feature, weight)
  }
}

const REQUEST_MIN = 3

/**
 * Returns the number of words that carry a question's subject: 0 in "And why?" and "Und wie lange?",
 * 1 in "Is it paid?". Infinity for texts that are not questions: "Thanks!", "No."
 */
export function countSubjectWords(question: string): number {
  let words = 0
  let count = 0
  let hasQuestionSign = /[?？؟]/.test(question)
  let isAskedFor = false
  for (const [run] of question.normalize('NFKC').matchAll(tokens)) {
    if (unspaced.test(run)) {
      words += Math.ceil(run.replace(stopPhrases, '').length / 2)
      continue
    }
    count++
    const token = fold(run)
    const isAsking = questionWords.has(token)
    if (!isAskedFor && !isAsking && !stopWords.has(token)) words++
    hasQuestionSign ||= isAsking
    isAskedFor = isAsking || (isAskedFor && quantityWords.has(token))
  }
  // A request has no question mark and no question word: "No." is not a request, "More, please" is.
  return hasQuestionSign || (words === 0 && count >= REQUEST_MIN) ? words : Infinity
}

/** Lower case, compatibility forms unified (ﬁ → fi), no diacritics: é → e, ё → е; ß stays. */
function fold(text: string): string {
  const lower = text.toLowerCase()
  return isAscii(lower) ? lower : lower.normalize('NFKD').replace(/\p{Mn}+/gu, '')
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\x00-\x7f]*$/.test(text)
}

type Feature = { feature: number; weight: number }

/** Texts repeat their words: caching the last ones makes reading four times as fast. */
const featureCache = new Map<string, Feature[]>()
const CACHE_ENTRIES_MAX = 50_000
const CACHED_LENGTH_MAX = 40

function findFeatures(word: string): Feature[] {
  const known = featureCache.get(word)
  if (known !== undefined) return known

  const features = word.length > WORD_MAX ? readWord(word.slice(0, WORD_MAX)) : readWord(word)
  if (word.length <= CACHED_LENGTH_MAX) {
    if (featureCache.size >= CACHE_ENTRIES_MAX) featureCache.clear()
    featureCache.set(word, features)
  }
  return features
}

/** Longer "words" are usually base64; their beginning is enough to find them. */
const WORD_MAX = 200

function readWord(word: string): Feature[] {
  if (stopWords.has(word)) return [{ feature: fnv(word), weight: STOP_WEIGHT }]
  const stem = findStem(word)
  const features = [{ feature: fnv(stem), weight: 1 }]
  if (stem.length < 5) return features
  const weight = PIECE_WEIGHT / Math.sqrt(stem.length - 3)
  for (let i = 0; i + 4 <= stem.length; i++)
    features.push({ feature: fnv(`~${stem.slice(i, i + 4)}`), weight })
  return features
}

function addPairs(run: string, add: (feature: number, weight: number) => void): void {
  for (const part of run.replace(stopPhrases, ' ').split(' ')) {
    let last = ''
    for (const c of part) {
      add(fnv(c), SINGLE_WEIGHT)
      if (last !== '') add(fnv(last + c), 1)
      last = c
    }
  }
}

/** Strips common marks of number, case and tense; errors are equal in question and text. */
export function findStem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  for (const { ending, kept } of endings) {
    if (word.endsWith(ending) && word.length - ending.length >= kept)
      return word.slice(0, -ending.length)
  }
  return word
}

/** By the minimum of letters that must remain; the longest first. */
const endings = Object.entries({
  4: listWords(`
    isation ization aciones amente imento ements ement ments acion ation mente ungen iones ities
    ment ings ions heit keit isch ados adas idos idas ando iert ion ung ern ado ada ido ida ity
    ami ar ir al n
  `),
  3: listWords(`
    ing ies ого ему ами ями ает ed es en er em ly os as ой ый ая ое ые ых ом ов ей ам ях ах ет ть
    s e o a y i а я ы и у ю е о й ь
  `),
})
  .flatMap(([kept, all]) => all.map((ending) => ({ ending, kept: Number(kept) })))
  .sort((a, b) => b.ending.length - a.ending.length)

/** FNV-1a over UTF-16 units, then mixed, so that its low bits are as random as its high ones. */
function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
