// Finds the passage of a chunk with the most words of the question: words within a sentence or two
// of each other, each counted once.
import { isWord } from './terms.ts'

/** In terms; a group of characters is only a part of a word. */
const WINDOW = { words: 40, groups: 80 }
/** Limit per chunk, for a text of one repeated word. */
const HITS_MAX = 512

const places = new Int32Array(HITS_MAX)
const hitWords = new Int32Array(HITS_MAX)
const similarities = new Float64Array(HITS_MAX)

export type Window = {
  clear: () => void
  add: (place: number, word: number, similarity: number) => void
  /** Returns the sum of word weights in the best passage. */
  best: () => number
}

export function createWindow(words: { name: string; weight: number }[]): Window {
  const reached = new Float64Array(words.length)
  const weights = words.map(({ weight }) => weight)
  const reaches = words.map(({ name }) => (isWord(name) ? WINDOW.words : WINDOW.groups))
  let count = 0
  return {
    clear: () => {
      count = 0
    },
    add(place, word, similarity) {
      if (count === HITS_MAX) return
      places[count] = place
      hitWords[count] = word
      similarities[count++] = similarity
    },
    best() {
      let most = 0
      for (let from = 0; from < count; from++) {
        const end = (places[from] as number) + (reaches[hitWords[from] as number] as number)
        let sum = 0
        let to = from
        for (; to < count && (places[to] as number) < end; to++) {
          const word = hitWords[to] as number
          const more = (similarities[to] as number) - (reached[word] as number)
          if (more <= 0) continue
          sum += (weights[word] as number) * more
          reached[word] = similarities[to] as number
        }
        for (let i = from; i < to; i++) reached[hitWords[i] as number] = 0
        if (sum > most) most = sum
      }
      return most
    },
  }
}
