// The question's n-grams (four letters), and the words of the index that contain them. They match
// inflections, compounds and misspellings in any language. Only words are indexed: an n-gram's
// number of chunks is an estimate.
import { grown } from './arena.ts'
import { idf } from './idf.ts'
import { eachNgram, foldAccents, isWord } from './terms.ts'
import { NGRAM_LETTERS_MAX, type WordIndex } from './word-index.ts'

export type Ngrams = {
  /** By n-gram. */
  weights: number[]
  /** The highest possible score of all n-grams. */
  ceiling: number
  /** Terms of the index, and the n-gram in each. */
  terms: Uint32Array
  termNgrams: Uint32Array
  /** The length of these two. */
  length: number
}

/** An n-gram in more words is an ending or a beginning and has little meaning. */
const WORDS_MAX = 5_000
/** Limit of entries per question. */
const ENTRIES_MAX = 200_000

/** The weight of an unmatched n-gram; in full, a question's phrasing would decide. */
const UNKNOWN = 0.4

export function readNgrams(index: WordIndex, words: { name: string; isStop: boolean }[]): Ngrams {
  const ngrams: Ngrams = {
    weights: [],
    ceiling: 0,
    terms: new Uint32Array(256),
    termNgrams: new Uint32Array(256),
    length: 0,
  }
  const seen = new Set<string>()
  for (const { name, isStop } of words) {
    if (!isWord(name) || name.length > NGRAM_LETTERS_MAX) continue
    eachNgram(foldAccents(name), (ngram) => {
      if (seen.has(ngram)) return
      seen.add(ngram)
      const size = index.countWords(ngram)
      if (size <= WORDS_MAX && ngrams.length + size <= ENTRIES_MAX)
        addNgram(index, ngrams, ngram, isStop)
    })
  }
  return ngrams
}

function addNgram(index: WordIndex, ngrams: Ngrams, ngram: string, isStop: boolean): void {
  const number = ngrams.weights.length
  let frequency = 0
  index.eachWord(ngram, (term) => {
    if (ngrams.length === ngrams.terms.length) {
      ngrams.terms = grown(ngrams.terms, ngrams.length + 1)
      ngrams.termNgrams = grown(ngrams.termNgrams, ngrams.length + 1)
    }
    ngrams.terms[ngrams.length] = term
    ngrams.termNgrams[ngrams.length++] = number
    frequency += index.frequencies[term] as number
  })
  // Its words occur in the same chunks as often as chance predicts.
  const live = Math.max(1, index.live)
  const weight = idf(index, live * (1 - Math.exp(-frequency / live)), isStop)
  ngrams.weights.push(weight)
  ngrams.ceiling += weight * (frequency > 0 ? 1 : UNKNOWN)
}

/** All zeros between uses. By term: 1 + its first entry; by entry: 1 + the term's next. */
let firsts = new Int32Array(1_024)
let nexts = new Int32Array(1_024)
let counts = new Uint32Array(256)
let found = new Uint32Array(256)

/** Counts n-grams in chunks while `work` runs. */
export function withNgramCounter<T>(
  index: WordIndex,
  ngrams: Ngrams,
  work: (counter: NgramCounter) => T,
): T {
  const { terms, length, weights } = ngrams
  if (firsts.length < index.termCount) firsts = grown(firsts, index.termCount)
  if (nexts.length <= length) nexts = grown(nexts, length + 1)
  if (counts.length < weights.length) {
    counts = grown(counts, weights.length)
    found = grown(found, weights.length)
  }
  try {
    for (let entry = 0; entry < length; entry++) {
      const term = terms[entry] as number
      nexts[entry] = firsts[term] as number
      firsts[term] = entry + 1
    }
    return work(createCounter(ngrams))
  } finally {
    // Also after a failure: the next question may be another user's.
    for (let entry = 0; entry < length; entry++) firsts[terms[entry] as number] = 0
    counts.fill(0)
  }
}

export type NgramCounter = {
  add: (term: number) => void
  /** Returns the counts since the last call, saturated as in BM25. */
  take: (k1: number, norm: number) => number
}

function createCounter({ weights, termNgrams }: Ngrams): NgramCounter {
  const [firstEntries, nextEntries, ngramCounts, foundNgrams] = [firsts, nexts, counts, found]
  let length = 0
  return {
    add(term) {
      for (
        let entry = firstEntries[term] as number;
        entry !== 0;
        entry = nextEntries[entry - 1] as number
      ) {
        const ngram = termNgrams[entry - 1] as number
        if (ngramCounts[ngram] === 0) foundNgrams[length++] = ngram
        ngramCounts[ngram] = (ngramCounts[ngram] as number) + 1
      }
    },
    take(k1, norm) {
      let sum = 0
      for (let i = 0; i < length; i++) {
        const ngram = foundNgrams[i] as number
        const count = ngramCounts[ngram] as number
        sum += ((weights[ngram] as number) * count * (k1 + 1)) / (count + norm)
        ngramCounts[ngram] = 0
      }
      length = 0
      return sum
    },
  }
}
