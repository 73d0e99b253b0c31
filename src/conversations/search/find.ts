// Finds conversations with every word of a query; the last word may be unfinished. Other forms of a
// word count less. A conversation scores by the best message of each word, and by its title.
import { grown } from '#rag/search/words/arena.ts'
import { idf } from '#rag/search/words/idf.ts'
import { eachTerm, foldAccents, isStopWord, isWord, stemWord } from '#rag/search/words/terms.ts'
import {
  buildRootKey,
  COUNT_BITS,
  COUNT_MAX,
  type WordIndex,
} from '#rag/search/words/word-index.ts'
import type { ConversationIndex } from './conversation-index.ts'

/** Further words of a pasted text are not searched. */
const QUERY_WORDS_MAX = 32
const WEIGHT = { exact: 1, accents: 0.9, stem: 0.7, prefix: 0.6, title: 2 }
const K1 = 1.2

export type Found = {
  conversationId: string
  score: number
  /** The best messages, best first; null for the title. */
  messageIds: (string | null)[]
}
export type SearchFilter = { collection?: string | undefined; isArchived: boolean }

const MESSAGES_PER_CONVERSATION = 3

/** A word of a query: the terms of the index that match it, each with its weight. */
export type QueryWord = { name: string; isLast: boolean; terms: Map<number, number> }

export function readQuery(index: WordIndex, text: string): QueryWord[] {
  const names: string[] = []
  eachTerm(text, (name) => {
    if (names.length < QUERY_WORDS_MAX) names.push(name)
  })
  const last = names.at(-1)
  return [...new Set(names)].map((name) => {
    const isLast = name === last
    return { name, isLast, terms: findTerms(index, name, isLast) }
  })
}

function findTerms(index: WordIndex, name: string, isLast: boolean): Map<number, number> {
  const terms = new Map<number, number>()
  const add = (term: number, weight: number) => {
    if ((terms.get(term) ?? 0) < weight) terms.set(term, weight)
  }
  const exact = index.findTerm(name)
  if (exact !== undefined) add(exact, WEIGHT.exact)
  const folded = foldAccents(name)
  if (isWord(name)) {
    index.eachWord(buildRootKey(stemWord(folded)), (term) =>
      add(term, foldAccents(index.readName(term)) === folded ? WEIGHT.accents : WEIGHT.stem),
    )
  }
  if (isLast) {
    for (let term = 0; term < index.termCount; term++) {
      if (foldAccents(index.readName(term)).startsWith(folded)) add(term, WEIGHT.prefix)
    }
  }
  return terms
}

/** Returns the conversations with all words of the query, best first. */
export function findConversations(
  index: ConversationIndex,
  query: readonly QueryWord[],
  filter: SearchFilter,
): Found[] {
  // A query of stop words only is searched for these.
  const meaningful = query.filter(({ name, isLast }) => isLast || !isStopWord(name))
  let found: Map<string, Slots> | null = null
  for (const word of meaningful.length > 0 ? meaningful : query) {
    const next = new Map<string, Slots>()
    scoreSlots(index, word, (slot, score) => {
      const id = index.places[slot]?.conversationId ?? ''
      const before = found?.get(id)
      if (found !== null && before === undefined) return
      const slots = before ?? next.get(id) ?? new Map<number, number>()
      slots.set(slot, (slots.get(slot) ?? 0) + score)
      next.set(id, slots)
    })
    found = next
  }
  return [...(found ?? [])]
    .filter(([id]) => passes(index, id, filter))
    .map(([conversationId, slots]) => buildFound(index, conversationId, slots))
    .sort((a, b) => b.score - a.score || compareAge(index, a, b))
}

/** The score of each text of a conversation. */
type Slots = Map<number, number>

function passes(index: ConversationIndex, id: string, { collection, isArchived }: SearchFilter) {
  const entry = index.conversations.get(id)
  if (entry === undefined || (entry.archived_at !== null) !== isArchived) return false
  return collection === undefined || entry.collection_ids.includes(collection)
}

/** Scratch space, all zeros between uses, by slot. */
let scores = new Float32Array(1_024)

/** Calls `each` with the texts that contain the word: BM25 without the length of texts. */
function scoreSlots(
  { words, alive, places }: ConversationIndex,
  { terms }: QueryWord,
  each: (slot: number, score: number) => void,
): void {
  if (scores.length < words.slots) scores = grown(scores, words.slots)
  const bySlot = scores
  const touched: number[] = []
  for (const [term, weight] of terms) {
    const frequency = words.frequencies[term] as number
    if (frequency === 0) continue
    const gain = weight * idf(words, frequency) * (K1 + 1)
    words.postings.read(term, (numbers, from, to) => {
      for (let at = from; at < to; at++) {
        const posting = numbers[at] as number
        const slot = posting >>> COUNT_BITS
        if (alive[slot] === 0) continue
        const count = posting & COUNT_MAX
        const score = (gain * count) / (count + K1)
        const before = bySlot[slot] as number
        if (before === 0) touched.push(slot)
        if (score > before) bySlot[slot] = score
      }
    })
  }
  for (const slot of touched) {
    const score = bySlot[slot] as number
    bySlot[slot] = 0
    each(slot, places[slot]?.messageId === null ? score * WEIGHT.title : score)
  }
}

function buildFound(
  index: ConversationIndex,
  conversationId: string,
  slots: Map<number, number>,
): Found {
  const best = [...slots].sort(([a, x], [b, y]) => y - x || a - b)
  return {
    conversationId,
    score: best.slice(0, MESSAGES_PER_CONVERSATION).reduce((sum, [, score]) => sum + score, 0),
    messageIds: best
      .slice(0, MESSAGES_PER_CONVERSATION)
      .map(([slot]) => index.places[slot]?.messageId ?? null),
  }
}

function compareAge({ conversations }: ConversationIndex, a: Found, b: Found): number {
  const [first, second] = [a, b].map((one) => conversations.get(one.conversationId)?.updated_at)
  return (second ?? '') < (first ?? '') ? -1 : 1
}
