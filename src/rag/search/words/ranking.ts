// BM25 by the question's words and similar ones. The score is the reached share of the possible
// score, scaled so that 0.5 separates texts that answer, equally in all languages. Postings select
// candidates, rare words first; each is then scored by its own terms, with n-grams, word pairs and
// its best passage.
import { grown } from './arena.ts'
import { idf } from './idf.ts'
import { type NgramCounter, type Ngrams, readNgrams, withNgramCounter } from './ngrams.ts'
import {
  eachNgram,
  eachTerm,
  foldAccents,
  isStopWord,
  isTriple,
  isWord,
  stemWord,
} from './terms.ts'
import { createWindow, type Window } from './window.ts'
import {
  buildRootKey,
  COUNT_BITS,
  COUNT_MAX,
  NGRAM_LETTERS_MAX,
  type WordIndex,
} from './word-index.ts'

export type Ranked = {
  slot: number
  /** 0..1 */
  score: number
}

/** BM25's usual constants. */
const K1 = 1.2
const B = 0.7
/** In terms: up to this length a chunk is not penalised for being longer than most in its index. */
const LENGTH_MIN = 100

const STOP_WEIGHT = 0.3
const PAIR_WEIGHT = 2
/** The weight of the chunk's best passage, added to that of the whole chunk. */
const PASSAGE_WEIGHT = 0.5

/** Of words: equal without accents, of one stem, or the share of common n-grams. */
const SIMILARITY = { accents: 0.6, root: 0.95, ngramsMax: 0.9, min: 0.8 }
const SIMILAR_WORDS_MAX = 32
/** Per message, as comparisons block the thread; beyond it, words must match exactly. */
const COMPARISONS_MAX = 3_000_000
/** Of a pasted page only the first terms are searched. */
const QUESTION_TERMS_MAX = 400
/** Two words that meet this much more often than chance belong together. */
const CHANCE_SHARE = 0.1

/** The share that best separates answering chunks from others: `npm run bench -- retrieval`. */
const HALF = 0.405
/**
 * Added to the possible score, in words that occur in one chunk only: a question of one or two
 * words reaches its ceiling too easily. A word adds more than a group of characters, because of its
 * n-grams and pairs.
 */
const CEILING_EXTRA = { word: 5, group: 3 }
/**
 * The share of an unmatched word's weight that counts toward the ceiling. A lower share for
 * unmatched words prevents a question's phrasing from deciding. Groups of characters often cross
 * the border of two words; three of them overlap so much that they match together.
 */
const UNKNOWN = { word: 0.6, group: 0.2, pair: 0 }
const KNOWN = { word: 1, group: 0.8, triple: 1.15, pair: 1.5 }

/** Limits of chunks that are scored exactly. */
const CANDIDATES_MIN = 60
const CANDIDATES_MAX = 300
/** For a word with more postings, checking whether it can add a new chunk is worth its cost. */
const LONG_LIST = 4_096

type QuestionWord = {
  name: string
  isStop: boolean
  /** Terms of the index that count as this word, most similar first. */
  terms: number[]
  similarity: number[]
  weight: number
}

type Pair = { first: number; second: number; weight: number }

export type Question = { words: QuestionWord[]; pairs: Pair[]; ngrams: Ngrams }

/** The remaining comparisons of similar words that one message may make. */
export type ComparisonBudget = { left: number }
export const createBudget = (): ComparisonBudget => ({ left: COMPARISONS_MAX })

/** Valid until the index changes. Questions of one message share their `budget`. */
export function readQuestion(index: WordIndex, text: string, budget = createBudget()): Question {
  const order: number[] = []
  const places = new Map<string, number>()
  const words: QuestionWord[] = []
  eachTerm(text, (name) => {
    if (order.length >= QUESTION_TERMS_MAX) return
    let place = places.get(name)
    if (place === undefined) {
      place = words.length
      places.set(name, place)
      words.push(resolveWord(index, name, budget))
    }
    order.push(place)
  })
  return { words, pairs: findPairs(words, order), ngrams: readNgrams(index, words) }
}

function resolveWord(index: WordIndex, name: string, budget: ComparisonBudget): QuestionWord {
  const isOfWords = isWord(name)
  const isStop = isOfWords && isStopWord(name)
  const isExactOnly =
    !isOfWords ||
    isStop ||
    name.length > NGRAM_LETTERS_MAX ||
    /\p{N}/u.test(name) ||
    budget.left <= 0
  const found = isExactOnly ? findExactWord(index, name) : findSimilarWords(index, name, budget)
  let frequency = 0
  for (const [i, term] of found.terms.entries()) {
    frequency += (found.similarity[i] as number) * (index.frequencies[term] as number)
  }
  return {
    name,
    isStop,
    ...found,
    weight: idf(index, frequency, isStop) * (isStop ? STOP_WEIGHT : 1),
  }
}

function findExactWord(index: WordIndex, name: string): Pick<QuestionWord, 'terms' | 'similarity'> {
  const term = index.findTerm(name)
  return term === undefined || index.frequencies[term] === 0
    ? { terms: [], similarity: [] }
    : { terms: [term], similarity: [1] }
}

/** Scratch space, all zeros between uses: how many n-grams a word shares with the current one. */
let shared = new Uint8Array(1_024)

function findSimilarWords(
  index: WordIndex,
  name: string,
  budget: ComparisonBudget,
): Pick<QuestionWord, 'terms' | 'similarity'> {
  const word = foldAccents(name)
  if (shared.length < index.termCount) shared = grown(shared, index.termCount)
  const touched: number[] = []
  const ngrams = new Set<string>()
  eachNgram(word, (ngram) => ngrams.add(ngram))
  // The lists are limited, so the word itself may be missing in them.
  const { terms, similarity } = findExactWord(index, name)
  const itself = terms[0]
  const add = (term: number, value: number) => {
    if (index.frequencies[term] === 0) return
    if (terms.length === SIMILAR_WORDS_MAX && value <= (similarity.at(-1) as number)) return
    let at = terms.length
    while (at > 0 && (similarity[at - 1] as number) < value) at--
    terms.splice(at, 0, term)
    similarity.splice(at, 0, value)
    if (terms.length <= SIMILAR_WORDS_MAX) return
    terms.pop()
    similarity.pop()
  }
  try {
    for (const ngram of ngrams) {
      index.eachWord(ngram, (term) => {
        budget.left--
        if (shared[term] === 0) touched.push(term)
        shared[term] = (shared[term] as number) + 1
      })
    }
    if (itself !== undefined) shared[itself] = 0
    index.eachWord(buildRootKey(stemWord(word)), (term) => {
      budget.left--
      shared[term] = 0
      if (term !== itself)
        add(term, foldAccents(index.readName(term)) === word ? SIMILARITY.accents : SIMILARITY.root)
    })
    const least = ngrams.size * SIMILARITY.min
    for (const term of touched) {
      const count = shared[term] as number
      // An n-gram may occur twice in a word.
      if (count >= least) add(term, Math.min(SIMILARITY.ngramsMax, count / ngrams.size))
    }
  } finally {
    for (const term of touched) shared[term] = 0
  }
  return { terms, similarity }
}

/** Adjacent words, each pair once. Groups of characters overlap already. */
function findPairs(words: QuestionWord[], order: number[]): Pair[] {
  const pairs = new Map<string, Pair>()
  for (let i = 1; i < order.length; i++) {
    const [first = 0, second = 0] = [order[i - 1], order[i]]
    const [a, b] = [words[first] as QuestionWord, words[second] as QuestionWord]
    if (!isWord(a.name) || !isWord(b.name)) continue
    const weight = PAIR_WEIGHT * (a.isStop ? STOP_WEIGHT : 1) * (b.isStop ? STOP_WEIGHT : 1)
    pairs.set(`${first} ${second}`, { first, second, weight })
  }
  return [...pairs.values()]
}

/** Scratch space, all zeros between uses, by slot; and by slot the last turn that counted it. */
let sums = new Float32Array(1_024)
let lastTurns = new Int32Array(1_024)
let turn = 0

/** Returns the best open chunks (1 by slot), best first; chunks with score 0 are left out. */
export function rank(
  index: WordIndex,
  question: Question,
  open: Uint8Array,
  count: number,
): Ranked[] {
  const slots = selectCandidates(index, question, open, count)
  return score(index, question, slots)
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .slice(0, count)
}

function selectCandidates(
  index: WordIndex,
  question: Question,
  open: Uint8Array,
  count: number,
): number[] {
  if (sums.length < index.slots) {
    sums = grown(sums, index.slots)
    lastTurns = grown(lastTurns, index.slots)
  }
  const touched: number[] = []
  try {
    const left = sumWeights(index, question, open, count, touched)
    return touched.length <= CANDIDATES_MIN ? touched : selectHighest(touched, left, count)
  } finally {
    // Also after a failure: the next question may be another user's.
    for (const slot of touched) sums[slot] = 0
  }
}

/** Adds found chunks to `touched`, their weight to `sums`. @returns the skipped words' weight */
function sumWeights(
  index: WordIndex,
  { words }: Question,
  open: Uint8Array,
  count: number,
  touched: number[],
): number {
  const { starts, postings } = index
  const [slotSums, slotTurns] = [sums, lastTurns]
  const base = K1 * (1 - B)
  const slope = (K1 * B) / Math.max(LENGTH_MIN, index.meanLength)
  const ordered = words.filter(({ terms }) => terms.length > 0).sort((a, b) => b.weight - a.weight)
  let done = 0
  let left = ordered.reduce((sum, { weight }) => sum + weight, 0)

  for (const { terms, similarity, weight } of ordered) {
    const length = terms.reduce((sum, term) => sum + (index.frequencies[term] as number), 0)
    // Stops when no further chunk can enter. Checked only where that is likely.
    const mayStop = length >= LONG_LIST && touched.length > count && left * (K1 + 1) < done
    if (mayStop && findFloors(touched, [count]).floors[0] >= left * (K1 + 1)) break
    left -= weight
    done += weight
    const now = nextTurn()
    for (const [i, term] of terms.entries()) {
      const gain = weight * (similarity[i] as number) * (K1 + 1)
      postings.read(term, (numbers, from, to) => {
        for (let at = from; at < to; at++) {
          const posting = numbers[at] as number
          const slot = posting >>> COUNT_BITS
          // The most similar word comes first.
          if (slotTurns[slot] === now || open[slot] === 0) continue
          slotTurns[slot] = now
          const frequency = posting & COUNT_MAX
          const norm = base + slope * ((starts[slot + 1] as number) - (starts[slot] as number))
          const sum = slotSums[slot] as number
          if (sum === 0) touched.push(slot)
          slotSums[slot] = sum + (gain * frequency) / (frequency + norm)
        }
      })
    }
  }

  return left
}

/** Wraps around, since `counted` holds 32 bits; 0 means "not counted yet". */
function nextTurn(): number {
  turn = (turn + 1) | 0
  if (turn === 0) {
    lastTurns.fill(0)
    turn = 1
  }
  return turn
}

/** `left`: the weight that may still raise one of the slots. */
function selectHighest(touched: number[], left: number, count: number): number[] {
  const most = Math.max(CANDIDATES_MAX, count)
  const { floors, step } = findFloors(touched, [count, CANDIDATES_MIN, most])
  const [best, atLeast, atMost] = floors
  const floor = Math.max(atMost, Math.min(best - left * (K1 + 1), atLeast))
  const chosen = touched.filter((slot) => (sums[slot] as number) >= floor)
  if (chosen.length <= most) return chosen
  // Equal texts share the lowest step, in any number.
  const above: number[] = []
  const within: number[] = []
  for (const slot of chosen) ((sums[slot] as number) >= atMost + step ? above : within).push(slot)
  return [...above, ...within].slice(0, most)
}

const STEPS = 1_024
const histogram = new Uint32Array(STEPS + 1)

/** For ascending counts, floors that as many sums reach, and the distance between floors. */
function findFloors<Counts extends number[]>(
  touched: number[],
  counts: readonly [...Counts],
): { floors: { [K in keyof Counts]: number }; step: number } {
  const slotSums = sums
  let highest = 0
  for (const slot of touched) highest = Math.max(highest, slotSums[slot] as number)
  histogram.fill(0)
  const scale = STEPS / highest
  for (const slot of touched) {
    const step = ((slotSums[slot] as number) * scale) | 0
    histogram[step] = (histogram[step] as number) + 1
  }
  let above = 0
  let step = STEPS + 1
  const floors = counts.map((count) => {
    while (above < count && step > 0) above += histogram[--step] as number
    return step / scale
  }) as { [K in keyof Counts]: number }
  return { floors, step: 1 / scale }
}

/** Scratch space, all zeros between uses: by term, 1 + the place of its uses. */
let usesByTerm = new Int32Array(1_024)

/** Scores chunks by their share of the question's possible score in this index. */
export function score(index: WordIndex, question: Question, slots: number[]): Ranked[] {
  const { words } = question
  if (usesByTerm.length < index.termCount) usesByTerm = grown(usesByTerm, index.termCount)
  const uses = new Map<number, Use[]>()
  for (const [word, { terms, similarity }] of words.entries()) {
    for (const [i, term] of terms.entries()) {
      const use = { word, similarity: similarity[i] as number }
      const known = uses.get(term)
      if (known) known.push(use)
      else uses.set(term, [use])
    }
  }
  const listed = [...uses.values()]
  try {
    for (const [i, term] of [...uses.keys()].entries()) usesByTerm[term] = i + 1
    return withNgramCounter(index, question.ngrams, (counter) =>
      scoreChunks(index, question, slots, listed, counter),
    )
  } finally {
    for (const term of uses.keys()) usesByTerm[term] = 0
  }
}

type Use = { word: number; similarity: number }

/** `uses`: numbered as in `usesOf`. */
function scoreChunks(
  index: WordIndex,
  question: Question,
  slots: number[],
  uses: Use[][],
  ngrams: NgramCounter,
): Ranked[] {
  const { words, pairs } = question
  const pairsFrom = groupPairs(pairs)
  const slope = (K1 * B) / Math.max(LENGTH_MIN, index.meanLength)
  const chunksWith = new Uint32Array(pairs.length)
  const reached = new Float64Array(slots.length)
  const pairGains: { at: number; pair: number; gain: number }[] = []
  const counts: ChunkCounts = {
    frequency: new Float64Array(words.length),
    best: new Float64Array(words.length),
    pairFrequency: new Float64Array(pairs.length),
    passage: createWindow(words),
  }
  const { frequency, best, pairFrequency, passage } = counts

  for (const [at, slot] of slots.entries()) {
    const norm = K1 * (1 - B) + slope * index.measureLength(slot)
    countUses(index, slot, uses, pairsFrom, counts, ngrams)
    const sum = sumWords(words, frequency, best, norm)
    // N-grams alone match by chance: "thanks" and "than".
    const ngramScore = ngrams.take(K1, norm)
    reached[at] = sum === 0 ? 0 : sum + ngramScore + PASSAGE_WEIGHT * passage.best()
    passage.clear()
    for (let pair = 0; pair < pairs.length; pair++) {
      const count = pairFrequency[pair] as number
      if (count === 0) continue
      pairFrequency[pair] = 0
      chunksWith[pair] = (chunksWith[pair] as number) + 1
      pairGains.push({ at, pair, gain: (count * (K1 + 1)) / (count + norm) })
    }
  }
  const pairWeights = pairs.map(
    ({ first, second, weight }, pair) =>
      weight *
      idf(index, Math.max(chunksWith[pair] as number, estimateChance(index, words, first, second))),
  )
  for (const { at, pair, gain } of pairGains) {
    reached[at] = (reached[at] as number) + gain * (pairWeights[pair] as number)
  }
  const ceiling =
    computeMargin(question) * idf(index, 1) + computeCeiling(question, pairWeights, chunksWith)
  return slots.map((slot, at) => ({
    slot,
    score: 1 - 2 ** (-(reached[at] as number) / ceiling / HALF),
  }))
}

/** Counts of one chunk: by word, by pair, and the hits for its best passage. */
type ChunkCounts = {
  frequency: Float64Array
  best: Float64Array
  pairFrequency: Float64Array
  passage: Window
}

/** Adds a chunk's terms to its counts. */
function countUses(
  index: WordIndex,
  slot: number,
  uses: Use[][],
  pairsFrom: PairsByFirst,
  { frequency, best, pairFrequency, passage }: ChunkCounts,
  ngrams: NgramCounter,
): void {
  const to = index.starts[slot + 1] as number
  let before: Use[] | undefined
  for (let i = index.starts[slot] as number; i < to; i++) {
    const term = index.sequence[i] as number
    ngrams.add(term)
    const use = usesByTerm[term] as number
    const here = use === 0 ? undefined : uses[use - 1]
    if (here !== undefined) {
      for (const { word, similarity } of here) {
        frequency[word] = (frequency[word] as number) + similarity
        if (similarity > (best[word] as number)) best[word] = similarity
        passage.add(i, word, similarity)
      }
      if (before !== undefined && pairsFrom.size > 0)
        addPairs(before, here, pairsFrom, pairFrequency)
    }
    before = here
  }
}

type PairsByFirst = Map<number, { first: number; second: number; pair: number }[]>

function groupPairs(pairs: readonly Pair[]): PairsByFirst {
  const numbered = pairs.map(({ first, second }, pair) => ({ first, second, pair }))
  return Map.groupBy(numbered, ({ first }) => first)
}

/** Returns BM25 of a chunk over the question's words, and resets the counts for the next chunk. */
function sumWords(
  words: readonly QuestionWord[],
  frequency: Float64Array,
  best: Float64Array,
  norm: number,
): number {
  let sum = 0
  for (let word = 0; word < words.length; word++) {
    const similarity = best[word] as number
    if (similarity === 0) continue
    const count = (frequency[word] as number) / similarity
    sum += ((words[word] as QuestionWord).weight * similarity * count * (K1 + 1)) / (count + norm)
    frequency[word] = 0
    best[word] = 0
  }
  return sum
}

/** Less similar words do not form a pair. */
const PAIRED_SIMILARITY_MIN = 0.6

function addPairs(
  before: Use[],
  here: Use[],
  pairsFrom: PairsByFirst,
  pairFrequency: Float64Array,
): void {
  for (const left of before) {
    if (left.similarity < PAIRED_SIMILARITY_MIN) continue
    for (const { second, pair } of pairsFrom.get(left.word) ?? []) {
      const right = here.find(({ word }) => word === second)
      if (right !== undefined && right.similarity >= PAIRED_SIMILARITY_MIN) {
        pairFrequency[pair] = (pairFrequency[pair] as number) + 1
      }
    }
  }
}

/** Estimates how many chunks would contain both words if they were independent. */
function estimateChance(
  index: WordIndex,
  words: QuestionWord[],
  first: number,
  second: number,
): number {
  const sumFrequencies = ({ terms, similarity }: QuestionWord) =>
    terms.reduce(
      (sum, term, i) =>
        (similarity[i] as number) < PAIRED_SIMILARITY_MIN
          ? sum
          : sum + (index.frequencies[term] as number),
      0,
    )
  const [a, b] = [words[first] as QuestionWord, words[second] as QuestionWord]
  return (
    (CHANCE_SHARE *
      Math.min(index.live, sumFrequencies(a)) *
      Math.min(index.live, sumFrequencies(b))) /
    Math.max(1, index.live)
  )
}

function computeMargin({ words }: Question): number {
  const sum = words.reduce(
    (sum, { name }) => sum + (isWord(name) ? CEILING_EXTRA.word : CEILING_EXTRA.group),
    0,
  )
  return sum / Math.max(1, words.length)
}

/** Only Vietnamese has these letters; its spaces separate syllables, so pairs are words. */
const VIETNAMESE = /[ơư\u1ea0-\u1ef9]/

/** Returns the question's possible score. */
function computeCeiling(
  { words, pairs, ngrams }: Question,
  pairWeights: number[],
  chunksWith: Uint32Array,
): number {
  let ceiling = 0
  for (const { name, terms, weight } of words) {
    const share = terms.length === 0 ? UNKNOWN : KNOWN
    if (isWord(name)) ceiling += weight * share.word
    else ceiling += weight * (terms.length > 0 && isTriple(name) ? KNOWN.triple : share.group)
  }
  const isVietnamese = words.some(({ name }) => VIETNAMESE.test(name))
  const unknownPair = isVietnamese ? UNKNOWN.group : UNKNOWN.pair
  for (const pair of pairs.keys()) {
    ceiling += (pairWeights[pair] as number) * (chunksWith[pair] === 0 ? unknownPair : KNOWN.pair)
  }
  return ceiling * (1 + PASSAGE_WEIGHT) + ngrams.ceiling
}
