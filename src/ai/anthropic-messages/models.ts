/** Lists the models that answer messages, in pages, as Anthropic's clients expect. */
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { invalid } from '#platform/problems.ts'
import type { listModelViews } from '../openai-compat/models.ts'

type ModelView = ReturnType<typeof listModelViews>[number]

export const ModelPageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default: 20.' })),
  after_id: Type.Optional(Type.String({ description: 'Returns the page after this model.' })),
  before_id: Type.Optional(Type.String({ description: 'Returns the page before this model.' })),
})
const PAGE_MODELS = 20

/** Every client of Anthropic sends this header. */
export function isAnthropicClient({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers['anthropic-version'] !== undefined
}

export function buildAnthropicModel({ id, created, context_tokens, output_tokens_max }: ModelView) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
    max_input_tokens: context_tokens,
    max_tokens: output_tokens_max,
  }
}

/** @throws Problem 422 for a cursor that is not the id of a listed model */
export function buildAnthropicModelPage(
  views: readonly ModelView[],
  query: Static<typeof ModelPageQuery>,
) {
  const { limit = PAGE_MODELS, after_id: after, before_id: before } = query
  const models = views.filter(({ capabilities }) => capabilities !== null)
  const findIndex = (name: 'after_id' | 'before_id', id: string) => {
    const place = models.findIndex((model) => model.id === id)
    if (place === -1) throw invalid(['query', name], 'Should be the id of a listed model')
    return place
  }
  const begin = after === undefined ? 0 : findIndex('after_id', after) + 1
  const end = before === undefined ? models.length : findIndex('before_id', before)
  // With `before_id` alone, the page is the one that ends before that model.
  const isBackwards = before !== undefined && after === undefined
  const page = isBackwards
    ? models.slice(Math.max(begin, end - limit), end)
    : models.slice(begin, Math.min(end, begin + limit))
  return {
    data: page.map(buildAnthropicModel),
    has_more: page.length < Math.max(0, end - begin),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}
