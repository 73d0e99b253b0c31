/**
 * The question's n-grams (four letters), and the words of the index that contain them. They match
 * inflections, compounds and misspellings in any language, without a list of endings. The number of
 * chunks with an n-gram is estimated from its words; only words are indexed.
 */
import { grown } from './arena.ts'
import { idf } from './idf.ts'
import { eachPiece, folded, isWord } from './terms.ts'
import { LIKE_LETTERS_MAX, type WordIndex } from './word-index.ts'

export type Pieces = {
  /** By n-gram. */
  weights: number[]
  /** The highest possible score of all n-grams. */
  ceiling: number
  /** Terms of the index, and the n-gram in each. */
  terms: Uint32Array
  held: Uint32Array
  /** The length of these two. */
  length: number
}

/** An n-gram in more words is an ending or a beginning and has little meaning. */
const WORDS_MAX = 5_000
/** Limit of entries per question. */
const HELD_MAX = 200_000

/**
 * The share of an unmatched n-gram's weight that counts toward the ceiling. The full weight would
 * let a question's phrasing decide.
 */
const UNKNOWN = 0.4

export function readPieces(shelf: WordIndex, words: { name: string; isStop: boolean }[]): Pieces {
  const pieces: Pieces = {
    weights: [],
    ceiling: 0,
    terms: new Uint32Array(256),
    held: new Uint32Array(256),
    length: 0,
  }
  const seen = new Set<string>()
  for (const { name, isStop } of words) {
    if (!isWord(name) || name.length > LIKE_LETTERS_MAX) continue
    eachPiece(folded(name), (piece) => {
      if (seen.has(piece)) return
      seen.add(piece)
      const size = shelf.wordCountOf(piece)
      if (size <= WORDS_MAX && pieces.length + size <= HELD_MAX) add(shelf, pieces, piece, isStop)
    })
  }
  return pieces
}

function add(shelf: WordIndex, pieces: Pieces, piece: string, isStop: boolean): void {
  const number = pieces.weights.length
  let frequency = 0
  shelf.eachWordOf(piece, (term) => {
    if (pieces.length === pieces.terms.length) {
      pieces.terms = grown(pieces.terms, pieces.length + 1)
      pieces.held = grown(pieces.held, pieces.length + 1)
    }
    pieces.terms[pieces.length] = term
    pieces.held[pieces.length++] = number
    frequency += shelf.frequencies[term] as number
  })
  // Its words occur in the same chunks as often as chance predicts.
  const live = Math.max(1, shelf.live)
  const weight = idf(shelf, live * (1 - Math.exp(-frequency / live)), isStop)
  pieces.weights.push(weight)
  pieces.ceiling += weight * (frequency > 0 ? 1 : UNKNOWN)
}

/**
 * Scratch space, all zeros between uses: by term, 1 + the first of its entries; by entry, 1 + the
 * next of the same term.
 */
let firsts = new Int32Array(1_024)
let nexts = new Int32Array(1_024)
let counts = new Uint32Array(256)
let found = new Uint32Array(256)

/** Counts n-grams in chunks while `work` runs. */
export function countingPieces<T>(
  shelf: WordIndex,
  pieces: Pieces,
  work: (counter: PieceCounter) => T,
): T {
  const { terms, length, weights } = pieces
  if (firsts.length < shelf.termCount) firsts = grown(firsts, shelf.termCount)
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
    return work(createCounter(pieces))
  } finally {
    // Also after a failure: the next question may be another user's.
    for (let entry = 0; entry < length; entry++) firsts[terms[entry] as number] = 0
    counts.fill(0)
  }
}

export type PieceCounter = {
  add: (term: number) => void
  /** Returns the counts since the last call, saturated as in BM25. */
  take: (k1: number, norm: number) => number
}

function createCounter({ weights, held }: Pieces): PieceCounter {
  const [firstOf, nextOf, countOf, foundOf] = [firsts, nexts, counts, found]
  let length = 0
  return {
    add(term) {
      for (let entry = firstOf[term] as number; entry !== 0; entry = nextOf[entry - 1] as number) {
        const piece = held[entry - 1] as number
        if (countOf[piece] === 0) foundOf[length++] = piece
        countOf[piece] = (countOf[piece] as number) + 1
      }
    },
    take(k1, norm) {
      let sum = 0
      for (let i = 0; i < length; i++) {
        const piece = foundOf[i] as number
        const count = countOf[piece] as number
        sum += ((weights[piece] as number) * count * (k1 + 1)) / (count + norm)
        countOf[piece] = 0
      }
      length = 0
      return sum
    },
  }
}
