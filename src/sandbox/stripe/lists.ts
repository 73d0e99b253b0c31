/**
 * Lists objects, newest first. Parameters: `limit` 1 to 100 (default 10), `starting_after` with an
 * id, `created[gte|lt]`.
 */
import type { Form } from '../form.ts'
import { badParameter, badReference } from './fault.ts'
import { allowOnly, group, integer, optionalText } from './parameters.ts'

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

  const start = after ? findIndex(inTime, after, 'starting_after') + 1 : 0
  return {
    object: 'list',
    data: inTime.slice(start, start + limit),
    has_more: inTime.length > start + limit,
    url,
  }
}

function findIndex(items: readonly { id: string }[], id: string, param: string): number {
  const index = items.findIndex((item) => item.id === id)
  if (index < 0) throw badReference('object', id, param)
  return index
}

function createdFilter(form: Form): (item: object) => boolean {
  const bounds = group(form, 'created')
  allowOnly(bounds, ['gte', 'lt'])
  const from = integer(bounds, 'gte') ?? 0
  const until = integer(bounds, 'lt') ?? Number.POSITIVE_INFINITY
  return (item) => {
    const { created = 0 } = item as { created?: number }
    return created >= from && created < until
  }
}
