import { Type } from 'typebox'
import { CALL_TAGS, readOrigin } from '#ai/call-origin.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, Omittable, OneOf } from '#platform/http/schema.ts'
import { readCollectionScope } from '../collections/collections.ts'
import type { Mount } from '../mounts.ts'
import { Chunk, CollectionIds, QUERY_CHARACTERS_MAX, SearchWarnings, TopK } from '../schemas.ts'
import { parseFilter } from './filter.ts'
import { checkRerank } from './rerank.ts'
import { checkMode, MODES, type SearchDeps, search } from './search.ts'

const SearchBody = Type.Object({
  query: Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS_MAX }),
  top_k: TopK,
  mode: Type.Unsafe<(typeof MODES)[number]>({
    ...OneOf(...MODES),
    title: 'SearchMode',
    default: 'auto',
    description:
      '`lexical` compares words, `dense` compares meanings, `hybrid` fuses both rankings. `auto` is `hybrid` if this server has an embedder, otherwise `lexical`. Without an embedder, `dense` and `hybrid` are rejected.',
  }),
  min_score: Type.Number({ default: 0, minimum: 0, maximum: 1 }),
  min_relative_score: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 1,
    description:
      'Excludes chunks below this share of the best score. With 0.7, fewer chunks are returned, and those that answer are rarely missing.',
  }),
  filter: Omittable(JsonObject),
  collections: Type.Optional(CollectionIds),
  rerank: Type.Optional(
    Type.Boolean({
      description:
        'Whether a model reranks the best 30 chunks, in a separate call. Default: true if this server has a reranking model. Without one, true is rejected.',
    }),
  ),
  ...CALL_TAGS,
})

export function searchRoutes(app: App, mount: Mount, deps: SearchDeps): void {
  app.post(
    `${mount.prefix}/search`,
    {
      schema: {
        operationId: mount.nameOperation('searchChunks'),
        tags: [mount.tag],
        summary: 'Find the nearest chunks',
        body: SearchBody,
        response: { 200: Type.Object({ results: Type.Array(Chunk), warnings: SearchWarnings }) },
      },
      config: mount.readPolicy,
    },
    async (request, reply) => {
      const { query, top_k, mode, min_score, min_relative_score, filter, collections, rerank } =
        request.body
      checkMode(mode, deps)
      checkRerank(rerank, deps)
      const origin = readOrigin(reply, request.body)
      const call = {
        caller: requireCaller(request),
        route: `${mount.prefix}/search`,
        signal: clientGone(reply),
        origin,
      }
      const { userId } = call.caller
      const conditions = [
        ...parseFilter(filter ?? undefined),
        ...(await readCollectionScope(deps.db, userId, collections)),
      ]
      const searchQuery = {
        queries: [query],
        topK: top_k,
        minScore: min_score,
        minRelativeScore: min_relative_score,
        conditions,
        mode,
        ...(rerank === undefined ? {} : { reranks: rerank }),
      }
      const { found, warnings } = await search(deps, call, searchQuery)
      return { results: found, warnings }
    },
  )
}
