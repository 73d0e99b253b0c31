/** Below this likeness a passage has nothing to do with what was searched for, whatever compares them. */
export const LEAST_SCORE = 0.1

/**
 * What a search goes by, as the service says of itself at /readyz: `local` compares words, every other embedder meaning. Where
 * the operator keeps that to themselves, nothing is promised.
 */
export function searchWords(embedder: string | undefined): { hint: string; nothing: string } {
  if (embedder === undefined) return { hint: 'What are you looking for?', nothing: 'No passage of yours comes near' }
  if (embedder === 'local') return { hint: 'By the words in them', nothing: 'No passage of yours has the words of' }
  return { hint: 'By meaning: the words may be others', nothing: 'No passage of yours comes near' }
}
