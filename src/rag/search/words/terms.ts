/**
 * Reads a text into its terms: words, and overlapping groups of characters where a script writes no spaces. One term a word or a character, in
 * the order of the text. Question and chunk go through the same; nothing of it is stored, so it may change with any release.
 */

import { stopPhrases, stopWords } from '#embeddings/stop-words.ts'
import { stemOf } from '#embeddings/terms.ts'

const Gap = 0
const Word = 1
/** Chinese and Japanese: pairs of characters. Korean writes spaces, but its particles and compounds in one with the word: pairs of syllables. */
const Pairs = 2
/** Thai, Lao, Khmer, Burmese: a syllable takes several letters, so three. */
const Triples = 3
/** Belongs to the character before it. */
const Mark = 4

let table: Uint8Array | undefined

/** Longer "words" are base64 or the like; their beginning is enough to find them by. */
const TERM_MAX = 64

/** Calls `add` with each term; the strings may be slices of the text. */
export function eachTerm(text: string, add: (term: string) => void): void {
  table ??= classes()
  const normal = normalized(text)
  const { length } = normal
  for (let at = 0; at < length; ) {
    const kind = table[normal.charCodeAt(at)] as number
    if (kind === Gap || kind === Mark) {
      at++
      continue
    }
    let end = at + 1
    for (; end < length; end++) {
      const next = table[normal.charCodeAt(end)] as number
      if (next !== kind && next !== Mark) break
    }
    if (kind === Word) add(normal.slice(at, Math.min(end, at + TERM_MAX)))
    else if (kind === Triples) addGroups(normal.slice(at, end), 3, add)
    else
      for (const part of normal.slice(at, end).replace(stopPhrases, ' ').split(' '))
        addGroups(part, 2, add)
    at = end
  }
}

function addGroups(run: string, size: number, add: (term: string) => void): void {
  if (run.length <= size) {
    if (run !== '') add(run)
    return
  }
  for (let i = 0; i + size <= run.length; i++) add(run.slice(i, i + size))
}

/** Of a script that writes spaces. */
export function isWord(term: string): boolean {
  table ??= classes()
  return table[term.charCodeAt(0)] === Word
}

/** Of a script read in groups of three. */
export function isTriple(term: string): boolean {
  table ??= classes()
  return table[term.charCodeAt(0)] === Triples
}

let stops: Set<string> | undefined

/** Written with accents or without; but short words without theirs are other words in Vietnamese. */
export function isStopWord(word: string): boolean {
  stops ??= new Set([...stopWords].map(normalized))
  return stops.has(word) || (word.length > 3 && stops.has(folded(word)))
}

/** Lower case, compatibility forms unified (ﬁ → fi, full width → half); of Arabic and Hebrew the vowel signs off, and letters that vary in writing one. */
function normalized(text: string): string {
  const lower = text.toLowerCase()
  if (isAscii(lower)) return lower
  const normal = lower.normalize('NFKC')
  return /[\u0591-\u06d3]/.test(normal)
    ? normal
        .replace(
          /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670]+/g,
          '',
        )
        .replace(/[أإآٱ]/g, 'ا')
        .replaceAll('ى', 'ي')
        .replaceAll('ة', 'ه')
    : normal
}

/** A word without its accents: é = e, ς = σ. Accents distinguish words, so this is a weaker match. */
export function folded(word: string): string {
  if (isAscii(word)) return word
  return word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .replaceAll('ς', 'σ')
    .replaceAll('ı', 'i')
}

/** Returns the stem that related words share. Of the folded word. */
export function stemWord(word: string): string {
  const code = word.charCodeAt(0)
  return code >= 0x600 && code <= 0x6ff ? arabicRoot(word) : stemOf(word)
}

const ARABIC_PREFIXES = ['وال', 'بال', 'كال', 'فال', 'لل', 'ال', 'و']
const ARABIC_SUFFIXES = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي']

/** The article and what is written in one with it, and the endings of number and gender: Larkey, Ballesteros, Connell 2002, "light10". */
function arabicRoot(word: string): string {
  let root = word
  const prefix = ARABIC_PREFIXES.find(
    (prefix) => root.startsWith(prefix) && root.length - prefix.length >= 3,
  )
  if (prefix !== undefined) root = root.slice(prefix.length)
  for (const suffix of ARABIC_SUFFIXES) {
    if (root.endsWith(suffix) && root.length - suffix.length >= 3)
      root = root.slice(0, -suffix.length)
  }
  return root
}

/** Groups of four letters with the word's edges: `_ste`, `steu`, `teue`, `euer`, `uer_`. The share of common groups is the similarity of two words. */
export function eachPiece(word: string, add: (piece: string) => void): void {
  const padded = `_${word}_`
  if (padded.length <= 4) add(padded)
  else for (let i = 0; i + 4 <= padded.length; i++) add(padded.slice(i, i + 4))
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\x00-\x7f]*$/.test(text)
}

/** A class a UTF-16 unit: 64 KB, made at the first use. */
function classes(): Uint8Array {
  const word = /[\p{L}\p{N}]/u
  const mark = /\p{M}/u
  const pairs = /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u
  const triples = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
  const findClass = (unit: string) => {
    if (mark.test(unit)) return Mark
    if (unit === 'ー' || (pairs.test(unit) && word.test(unit))) return Pairs
    if (!word.test(unit)) return Gap
    return triples.test(unit) ? Triples : Word
  }
  const made = new Uint8Array(65_536)
  for (let code = 0; code < made.length; code++) made[code] = findClass(String.fromCharCode(code))
  // Surrogates: rare Chinese characters, other rare scripts; emoji are none.
  made.fill(Word, 0xd800, 0xd83b)
  made.fill(Pairs, 0xd840, 0xd889)
  made.fill(Mark, 0xdc00, 0xe000)
  return made
}
