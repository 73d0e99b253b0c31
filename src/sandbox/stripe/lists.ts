/**
 * Lists objects, newest first. Parameters: `limit` 1 to 100 (default 10), `starting_after` with an
 * id, `created[gte|lt]`.
 */
import type { Form } from '../form.ts'
import { badParameter, badReference } from './fault.ts'
import { allowSupported, group, integer, optionalText } from './parameters.ts'

export type List<T> = { object: 'list'; data: T[]; has_more: boolean; url: string }

export const PAGING = ['limit', 'starting_after', 'created']

export function paginate<T extends { id: string }>(
  newestFirst: readonly T[],
  form: Form,
  url: string,
): List<T> {
  const limit = integer(form, 'limit') ?? 10
  if (limit < 1 || limit > 100) throw badParameter('limit', 'This value must be between 1 and 100.')
  const after = optionalText(form, 'starting_after')
  const inTime = newestFirst.filter(createdFilter(form))

  const index = inTime.findIndex(({ id }) => id === after)
  if (after && index < 0) throw badReference('object', after, 'starting_after')
  const start = index + 1
  return {
    object: 'list',
    data: inTime.slice(start, start + limit),
    has_more: inTime.length > start + limit,
    url,
  }
}

function createdFilter(form: Form): (item: object) => boolean {
  const bounds = group(form, 'created')
  allowSupported(bounds, ['gte', 'lt'], 'created')
  const from = integer(bounds, 'gte') ?? 0
  const until = integer(bounds, 'lt') ?? Number.POSITIVE_INFINITY
  return (item) => {
    const { created = 0 } = item as { created?: number }
    return created >= from && created < until
  }
}
