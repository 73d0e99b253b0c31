/** The shapes that several of rag's routes use. */
import { Type } from 'typebox'
import { JsonObject, NamedObject, OneOf, Uuid } from '#platform/http/schema.ts'

export const CollectionIds = Type.Array(Uuid, {
  maxItems: 100,
  description: 'Ids of collections. An empty list is as none.',
})

export const Chunk = NamedObject('Chunk', {
  id: Type.String(),
  content: Type.String(),
  score: Type.Number(),
  rerank_score: Type.Optional(
    Type.Number({
      description:
        'The score of the reranking model, on its own scale; present if a model reranked the results.',
    }),
  ),
  metadata: JsonObject,
})

export const QUERY_CHARACTERS_MAX = 32_768

export const TopK = Type.Integer({ default: 5, minimum: 1, maximum: 50 })

export const SearchWarnings = Type.Array(
  NamedObject(
    'SearchWarning',
    { code: OneOf('embedding', 'not_reranked'), reason: Type.String() },
    { description: 'A configured step that the search could not perform.' },
  ),
)
