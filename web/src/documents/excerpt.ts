/** Finds the words of a search in a passage, also with other endings: `deposits` finds `deposit`. */

export type TextPart = { at: number; text: string; isMatch: boolean }

/** Splits the text into the words that the query has, and the text between them. */
export function markWords(text: string, query: string): TextPart[] {
  const stems = listStems(query)
  const parts: TextPart[] = []
  let end = 0
  const add = (to: number, isMatch: boolean) => {
    if (to > end) parts.push({ at: end, text: text.slice(end, to), isMatch })
    end = to
  }
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (findStem(word, stems) === undefined) continue
    add(index, false)
    add(index + word.length, true)
  }
  add(text.length, false)
  return parts
}

/** Returns the start of the sentence with the most words of the query; 0 if there are none. */
export function findExcerpt(text: string, query: string): number {
  const stems = listStems(query)
  let best = { start: 0, count: 0 }
  for (const { 0: sentence, index } of text.matchAll(/[^.!?\n]+[.!?\n]*/g)) {
    const found = new Set(Array.from(sentence.matchAll(WORD), ([word]) => findStem(word, stems)))
    found.delete(undefined)
    const start = index + sentence.length - sentence.trimStart().length
    if (found.size > best.count) best = { start, count: found.size }
  }
  return best.start
}

const WORD = /[\p{L}\p{N}]+/gu
/** Letters that an ending may have more than in the query. */
const ENDING_MAX = 4

/** Short words such as `of` only count in a query without longer ones. */
function listStems(query: string): string[] {
  const words = query.toLowerCase().match(WORD) ?? []
  const long = words.filter(({ length }) => length > 3)
  return (long.length > 0 ? long : words).map((word) =>
    word.slice(0, word.length - (word.length > 5 ? 2 : word.length > 3 ? 1 : 0)),
  )
}

function findStem(word: string, stems: readonly string[]): string | undefined {
  const lower = word.toLowerCase()
  return stems.find((stem) => lower.startsWith(stem) && lower.length <= stem.length + ENDING_MAX)
}
