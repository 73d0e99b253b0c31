/** Configured steps that a search could not perform. */
export const WARNINGS = {
  embedding:
    'Your documents are being embedded. Until that is done, the search compares words only.',
  not_reranked:
    'The reranking model did not answer in time or failed. The results keep the order of the search.',
} as const

export type SearchWarning = { code: keyof typeof WARNINGS; reason: string }

export const createWarning = (code: SearchWarning['code']): SearchWarning => ({
  code,
  reason: WARNINGS[code],
})
