/** What a search could not do that the server is set to do. */
export const WARNINGS = {
  embedding:
    'Your documents are being embedded; until that is done they are compared by their words alone.',
  embedder_unreachable:
    'The embedder of your documents was changed and the one before is out of reach; until they are embedded anew they are compared by their words alone.',
  not_reranked:
    'The model that reranks could not be asked or did not answer in time; the order is that of the search.',
} as const

export type SearchWarning = { code: keyof typeof WARNINGS; reason: string }

export const warningOf = (code: SearchWarning['code']): SearchWarning => ({
  code,
  reason: WARNINGS[code],
})
