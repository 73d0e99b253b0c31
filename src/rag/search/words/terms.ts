// Splits a text into terms in their order: words, and overlapping groups of characters in scripts
// without spaces. Questions and chunks use the same terms; none are stored, so they may change.
import { stopPhrases, stopWords } from '#embeddings/stop-words.ts'
import { findStem } from '#embeddings/terms.ts'

const Gap = 0
const Word = 1
/** Chinese and Japanese; also Korean, whose spaces do not separate particles and compounds. */
const Pairs = 2
/** Thai, Lao, Khmer, Burmese: a syllable has several letters, so groups of three. */
const Triples = 3
/** Belongs to the character before it. */
const Mark = 4

let table: Uint8Array | undefined

/** Longer "words" are usually base64; their beginning is enough to find them. */
const TERM_MAX = 64

/** Calls `add` with each term; the strings may be slices of the text. */
export function eachTerm(text: string, add: (term: string) => void): void {
  table ??= buildClasses()
  const normal = normalize(text)
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

/** Returns true for a term of a script with spaces. */
export function isWord(term: string): boolean {
  table ??= buildClasses()
  return table[term.charCodeAt(0)] === Word
}

/** Returns true for a term of a script that is read in groups of three. */
export function isTriple(term: string): boolean {
  table ??= buildClasses()
  return table[term.charCodeAt(0)] === Triples
}

let stops: Set<string> | undefined

/** With or without accents, except in short words, where Vietnamese differs by them. */
export function isStopWord(word: string): boolean {
  stops ??= new Set([...stopWords].map(normalize))
  return stops.has(word) || (word.length > 3 && stops.has(foldAccents(word)))
}

/** Unifies compatibility forms (ﬁ → fi); Arabic and Hebrew lose vowel signs and variants. */
function normalize(text: string): string {
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

/** é → e, ς → σ. Accents distinguish words, so this is a weaker match. */
export function foldAccents(word: string): string {
  if (isAscii(word)) return word
  return word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .replaceAll('ς', 'σ')
    .replaceAll('ı', 'i')
}

/** Returns the stem that related words share, from the folded word. */
export function stemWord(word: string): string {
  const code = word.charCodeAt(0)
  return code >= 0x600 && code <= 0x6ff ? stemArabic(word) : findStem(word)
}

const ARABIC_PREFIXES = ['وال', 'بال', 'كال', 'فال', 'لل', 'ال', 'و']
const ARABIC_SUFFIXES = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي']

/** Larkey, Ballesteros, Connell 2002, "light10": strips article, prefixes and endings. */
function stemArabic(word: string): string {
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

/** Groups of four letters with the word's edges: `_ste`, `steu`, `teue`, `euer`, `uer_`. */
export function eachNgram(word: string, add: (piece: string) => void): void {
  const padded = `_${word}_`
  if (padded.length <= 4) add(padded)
  else for (let i = 0; i + 4 <= padded.length; i++) add(padded.slice(i, i + 4))
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\x00-\x7f]*$/.test(text)
}

/** Returns the class of each UTF-16 unit: 64 KB, built on first use. */
function buildClasses(): Uint8Array {
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
  // Surrogates: rare Chinese characters and other rare scripts; emoji are no terms.
  made.fill(Word, 0xd800, 0xd83b)
  made.fill(Pairs, 0xd840, 0xd889)
  made.fill(Mark, 0xdc00, 0xe000)
  return made
}
