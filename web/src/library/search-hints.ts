import { t } from '../language/text.ts'
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
    return { placeholder: t('Search your documents'), noResults: t('No passage matches') }
  if (embedder === 'local')
    return {
      placeholder: t('Search by words'),
      noResults: t('No passage contains the words'),
    }
  return { placeholder: t('Search by words and meaning'), noResults: t('No passage matches') }
}
