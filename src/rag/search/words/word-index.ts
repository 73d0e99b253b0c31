// One user's inverted index in memory: the chunks of each term, and each chunk's terms in order.
// Built from the chunks, so nothing can become stale. A deleted chunk stays as a dead slot until a
// rebuild: see `isSparse`.
import { grown, Lists } from './arena.ts'
import { eachNgram, eachTerm, foldAccents, isWord, stemWord } from './terms.ts'

/** A posting holds the slot above the count. */
export const COUNT_BITS = 4
export const COUNT_MAX = (1 << COUNT_BITS) - 1

/** Measured size of a short string in a Map. */
const TERM_BYTES = 90
const FEW_LETTERS = 8
const DEAD_MAX = 1_000

/** Longer words are sequences or base64 and match exactly only; compounds still fit. */
export const NGRAM_LETTERS_MAX = 40
/** Limit per n-gram or root: one in more words has little meaning. */
const NGRAM_WORDS_MAX = 20_000
/** Letters after digits: an id, a hash. A number after letters (`iphone15`) is still a word. */
const CODE = /\p{N}\P{N}/u

/** Scratch space, all zeros between uses: how often a chunk contains each term. */
let counts = new Uint32Array(1_024)

export class WordIndex {
  /** Term → its number. */
  #terms = new Map<string, number>()
  #names: string[] = []
  /** By term: postings. */
  readonly postings = new Lists()
  /** By term: its number of live chunks. */
  frequencies = new Uint32Array(256)
  /** N-grams and roots of words → words. */
  #ngrams = new Map<string, number>()
  #wordLists = new Lists()
  /** By list of `#wordsOf`: its number of words. */
  #ngramSizes = new Uint32Array(256)

  /** By slot: the start of its terms in `sequence`; the next slot's start is its end. */
  starts = new Uint32Array(64)
  sequence = new Uint32Array(1_024)
  /** Bytes of terms, n-grams and roots beyond a few letters each. */
  #longBytes = 0
  #slots = 0
  #live = 0
  #liveTerms = 0
  #liveSquares = 0

  get slots(): number {
    return this.#slots
  }
  get live(): number {
    return this.#live
  }
  get termCount(): number {
    return this.#names.length
  }
  /** The mean over terms, not over chunks: many short chunks do not make the others long. */
  get meanLength(): number {
    return this.#liveTerms === 0 ? 1 : this.#liveSquares / this.#liveTerms
  }

  get bytes(): number {
    const { postings, frequencies, starts, sequence } = this
    const arrays = postings.bytes + frequencies.byteLength + starts.byteLength + sequence.byteLength
    return (
      arrays +
      this.#wordLists.bytes +
      this.#ngramSizes.byteLength +
      this.#longBytes +
      (this.#names.length + this.#ngrams.size) * TERM_BYTES
    )
  }

  /** True when more slots are dead than alive. */
  get isSparse(): boolean {
    return this.#slots - this.#live > this.#live + DEAD_MAX
  }

  /** @returns the chunk's slot: one more than the last one */
  add(text: string): number {
    const slot = this.#slots++
    if (slot + 2 > this.starts.length) this.starts = grown(this.starts, slot + 2)
    let at = this.starts[slot] as number
    eachTerm(text, (name) => {
      const term = this.#terms.get(name) ?? this.#newTerm(name)
      if (at === this.sequence.length) this.sequence = grown(this.sequence, at + 1)
      this.sequence[at++] = term
    })
    this.starts[slot + 1] = at
    this.#live++
    const length = this.measureLength(slot)
    this.#liveTerms += length
    this.#liveSquares += length * length
    this.#eachDistinct(slot, (term, count) => {
      this.postings.push(term, (slot << COUNT_BITS) | Math.min(count, COUNT_MAX))
      this.frequencies[term] = (this.frequencies[term] as number) + 1
    })
    return slot
  }

  /** Its postings stay; readers skip dead slots. */
  remove(slot: number): void {
    this.#live--
    const length = this.measureLength(slot)
    this.#liveTerms -= length
    this.#liveSquares -= length * length
    this.#eachDistinct(slot, (term) => {
      this.frequencies[term] = (this.frequencies[term] as number) - 1
    })
  }

  measureLength(slot: number): number {
    return (this.starts[slot + 1] as number) - (this.starts[slot] as number)
  }

  findTerm(name: string): number | undefined {
    return this.#terms.get(name)
  }

  readName(term: number): string {
    return this.#names[term] as string
  }

  /** Calls `each` for the words with this n-gram or root, at most `NGRAM_WORDS_MAX`. */
  eachWord(ngram: string, each: (term: number) => void): void {
    const list = this.#ngrams.get(ngram)
    if (list === undefined) return
    this.#wordLists.read(list, (words, from, to) => {
      for (let i = from; i < to; i++) each(words[i] as number)
    })
  }

  /** Counts the words that `eachWordOf` passes. */
  countWords(ngram: string): number {
    const list = this.#ngrams.get(ngram)
    return list === undefined ? 0 : (this.#ngramSizes[list] as number)
  }

  #newTerm(name: string): number {
    // A slice of a text would retain the whole text in memory.
    const own = Buffer.from(name, 'utf16le').toString('utf16le')
    const term = this.postings.open()
    this.#terms.set(own, term)
    this.#names.push(own)
    this.#longBytes += countLongBytes(own)
    if (term === this.frequencies.length) this.frequencies = grown(this.frequencies, term + 1)
    if (!isWord(own) || own.length > NGRAM_LETTERS_MAX || CODE.test(own)) return term
    const word = foldAccents(own)
    const addToList = (ngram: string) => {
      let list = this.#ngrams.get(ngram)
      if (list === undefined) {
        list = this.#wordLists.open()
        this.#ngrams.set(ngram, list)
        this.#longBytes += countLongBytes(ngram)
        if (list === this.#ngramSizes.length) this.#ngramSizes = grown(this.#ngramSizes, list + 1)
      }
      const size = this.#ngramSizes[list] as number
      if (size === NGRAM_WORDS_MAX) return
      this.#ngramSizes[list] = size + 1
      this.#wordLists.push(list, term)
    }
    eachNgram(word, addToList)
    addToList(buildRootKey(stemWord(word)))
    return term
  }

  #eachDistinct(slot: number, each: (term: number, count: number) => void): void {
    if (counts.length < this.#names.length) counts = grown(counts, this.#names.length)
    const { sequence, starts } = this
    const to = starts[slot + 1] as number
    for (let i = starts[slot] as number; i < to; i++) {
      const term = sequence[i] as number
      counts[term] = (counts[term] as number) + 1
    }
    let i = starts[slot] as number
    try {
      for (; i < to; i++) {
        const term = sequence[i] as number
        const count = counts[term] as number
        if (count === 0) continue
        counts[term] = 0
        each(term, count)
      }
    } finally {
      // After a failure: the next index may be another user's.
      for (; i < to; i++) counts[sequence[i] as number] = 0
    }
  }
}

function countLongBytes({ length }: string): number {
  return 2 * Math.max(0, length - FEW_LETTERS)
}

/** No n-gram begins with this prefix. */
export function buildRootKey(root: string): string {
  return `=${root}`
}
