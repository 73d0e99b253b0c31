import type { Citation, Quote } from '../api/types.ts'

/**
 * Turns citations (`[1]`, `[1, 3]`) into links to their passages. Code, existing links and
 * citations of missing passages stay unchanged.
 */
export function citationLinks(answer: string, sources: number): string {
  return answer
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replace(/\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\](?![(:])/g, links),
    )
    .join('')

  function links(citation: string, numbers: string): string {
    const list = numbers.split(',').map((number) => Number(number.trim()))
    if (!list.every((number) => number >= 1 && number <= sources)) return citation
    return list.map((number) => `[${number}](#passage-${number})`).join('')
  }
}

/**
 * Returns the cited sentences of a source in document order, without duplicates. Older answers
 * have none.
 */
export function findQuotes(citations: Citation[], source: number): Quote[] {
  const quotes = citations.flatMap((one) => (one.source === source && one.quote ? [one.quote] : []))
  const byPlace = new Map(quotes.map((quote) => [quote.start, quote]))
  return [...byPlace.values()].sort((a, b) => a.start - b.start)
}
