import type { Citation, Quote } from '../api/types.ts'

/**
 * Returns the cited sentences of a source in document order, without duplicates. Older answers
 * have none.
 */
export function findQuotes(citations: Citation[], source: number): Quote[] {
  const quotes = citations.flatMap((one) => (one.source === source && one.quote ? [one.quote] : []))
  const byPlace = new Map(quotes.map((quote) => [quote.start, quote]))
  return [...byPlace.values()].sort((a, b) => a.start - b.start)
}
