/** Below this likeness a passage has nothing to do with what was searched for, whatever compares them. */
export const MIN_SCORE = 0.1

/**
 * What a search goes by, as the service says of itself at /readyz: `local` compares words, every other embedder meaning as well. Where
 * the operator keeps that to themselves, nothing is promised.
 */
export function getSearchHints(embedder: string | undefined): {
  placeholder: string
  noResults: string
} {
  if (embedder === undefined)
    return { placeholder: 'What are you looking for?', noResults: 'No passage of yours comes near' }
  if (embedder === 'local')
    return {
      placeholder: 'By the words in them',
      noResults: 'No passage of yours has the words of',
    }
  return { placeholder: 'By words and by meaning', noResults: 'No passage of yours comes near' }
}
