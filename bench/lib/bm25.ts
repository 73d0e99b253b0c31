// The baseline: Okapi BM25 over lower-case words, and over pairs of characters in scripts without
// spaces. No stemming, no stop words.
const K1 = 1.2
const B = 0.75

export function bm25(texts: string[]): (query: string) => { index: number; score: number }[] {
  const postings = new Map<string, [index: number, count: number][]>()
  const lengths = texts.map((text, index) => {
    const words = splitWords(text)
    const counts = new Map<string, number>()
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const [word, count] of counts) {
      const list = postings.get(word)
      if (list) list.push([index, count])
      else postings.set(word, [[index, count]])
    }
    return words.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / texts.length

  return (query) => {
    const scores = new Float64Array(texts.length)
    for (const word of splitWords(query)) {
      const list = postings.get(word)
      if (!list) continue
      const idf = Math.log(1 + (texts.length - list.length + 0.5) / (list.length + 0.5))
      for (const [index, count] of list) {
        const norm = K1 * (1 - B + (B * (lengths[index] ?? 0)) / mean)
        scores[index] = (scores[index] ?? 0) + (idf * count * (K1 + 1)) / (count + norm)
      }
    }
    return Array.from(scores, (score, index) => ({ index, score })).sort(
      (a, b) => b.score - a.score,
    )
  }
}

function splitWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => {
    if (!/[\u3040-\u30ff\u3400-\u9fff]/.test(word)) return [word]
    const characters = [...word]
    return characters.length === 1
      ? [word]
      : characters.slice(1).map((next, i) => `${characters[i]}${next}`)
  })
}
