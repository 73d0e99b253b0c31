/** Passages below this similarity are unrelated with every embedder. */
export const MIN_SCORE = 0.1

/**
 * Describes the search for an embedder from /readyz: `local` compares words, every other one
 * meaning too. An undefined embedder is hidden by the operator, so nothing is promised.
 */
export function getSearchHints(embedder: string | undefined): {
  placeholder: string
  noResults: string
} {
  if (embedder === undefined)
    return { placeholder: 'Search your documents', noResults: 'No passage matches' }
  if (embedder === 'local')
    return {
      placeholder: 'Search by words',
      noResults: 'No passage contains the words',
    }
  return { placeholder: 'Search by words and meaning', noResults: 'No passage matches' }
}
