/** Finds the sentences of a passage that support a statement, and their places in the document. */
import type { Piece } from '../documents/document-text.ts'
import { findBoundaries, Sentence } from '../ingest/boundaries.ts'
import { type Claim, hasTerm, type ReadWords, readWords } from './support.ts'

/** UTF-16 offsets in the document's text; `page`, from 1, is that of `start`. */
export type Quote = { text: string; start: number; end: number; page: number | null }

/** Text outside of the pieces, such as a repeated table header, is never quoted. */
export type CitedPassage = { text: string; pieces: readonly Piece[] }

/** A sentence, list item or table row: its offsets in the passage, and its words. */
export type Unit = { start: number; end: number; words: ReadWords }

/** The most consecutive sentences that one statement may use. */
const UNITS_MAX = 3
/** Share of the statement's weight that another sentence must add. */
const ADDED_MIN = 0.25
/** Share of the statement's words that a quote without its numbers must have. */
const WORDS_MIN = 0.2
/** A number identifies a sentence better than a word. */
const NUMBER_WEIGHT = 2

export function readUnits({ text, pieces }: CitedPassage): Unit[] {
  const { at, strength, blocks, headings } = findBoundaries(text)
  const cuts = new Set([0, text.length])
  const isInBlock = (place: number) => {
    for (let i = 0; i < blocks.length; i += 2) {
      if (place >= (blocks[i] as number) && place <= (blocks[i + 1] as number)) return true
    }
    return false
  }
  at.forEach((place, i) => {
    if ((strength[i] as number) >= Sentence || isInBlock(place)) cuts.add(place)
  })
  for (const heading of headings) cuts.add(`${text}\n`.indexOf('\n', heading))

  const places = [...cuts].sort((a, b) => a - b)
  return places.slice(1).flatMap((to, i) => {
    const from = places[i] as number
    const written = text.slice(from, to)
    const start = from + written.length - written.trimStart().length
    const end = from + written.trimEnd().length
    return end <= start || findPiece(pieces, start) === undefined
      ? []
      : { start, end, words: readWords(text.slice(start, end)) }
  })
}

/** Returns the fewest consecutive sentences with most of the statement; null without enough. */
export function findQuote(
  claim: Claim,
  units: readonly Unit[],
  passage: CitedPassage,
): Quote | null {
  const itemSets = units.map(({ words }) => findSharedItems(claim, words))
  const weights = new Map<string, number>()
  for (const items of itemSets)
    for (const item of items) weights.set(item, (weights.get(item) ?? 0) + 1)
  // Words of one sentence alone identify it best.
  for (const [item, sentences] of weights)
    weights.set(item, (item.startsWith('#') ? NUMBER_WEIGHT : 1) / sentences)
  const computeWeight = (items: Set<string>) =>
    [...items].reduce((sum, item) => sum + (weights.get(item) ?? 0), 0)
  const all = computeWeight(new Set(weights.keys()))

  let best = { from: 0, to: 0, items: new Set<string>(), weight: 0 }
  for (let count = 1; count <= UNITS_MAX; count++) {
    const least = best.weight + (count === 1 ? 0 : ADDED_MIN * all)
    let better = { ...best, weight: least }
    for (let from = 0; from + count <= units.length; from++) {
      const items = itemSets
        .slice(from, from + count)
        .reduce((both, more) => both.union(more), new Set<string>())
      const weight = computeWeight(items)
      if (weight > better.weight) better = { from, to: from + count, items, weight }
    }
    if (better.weight > least) best = better
  }
  const items = [...best.items]
  const hasNumber = items.some((item) => item.startsWith('#'))
  if (items.length === 0 || (!hasNumber && items.length < WORDS_MIN * claim.words.length))
    return null
  return locateQuote(units[best.from] as Unit, units[best.to - 1] as Unit, passage)
}

/** Numbers get a prefix, because a word may look like a number. */
function findSharedItems({ words, numbers }: Claim, sentence: ReadWords): Set<string> {
  const items = new Set<string>()
  for (const { term } of words) if (hasTerm(sentence, term)) items.add(term)
  for (const number of numbers) if (sentence.numbers.has(number)) items.add(`#${number}`)
  return items
}

function locateQuote(first: Unit, last: Unit, { text, pieces }: CitedPassage): Quote | null {
  const [from, to] = [findPiece(pieces, first.start), findPiece(pieces, last.end - 1)]
  if (from === undefined || to === undefined) return null
  const start = from.start + first.start - from.at
  const page = from.pages.findLast(({ at }) => at <= start)?.page ?? null
  return { text: text.slice(first.start, last.end), start, end: to.start + last.end - to.at, page }
}

function findPiece(pieces: readonly Piece[], place: number): Piece | undefined {
  return pieces.find(({ at, start, end }) => place >= at && place < at + end - start)
}
