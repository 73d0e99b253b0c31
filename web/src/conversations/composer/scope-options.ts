import { useQuery } from '@tanstack/react-query'
import { readQuery } from '../../api/queries.ts'
import { t } from '../../language/text.ts'
import type { PickOption } from '../parts/pick-list.tsx'

const LISTED_MAX = 100

export const chosenDocumentsQuery = readQuery(
  ['documents', 'to-choose'],
  '/api/library/documents',
  { query: { limit: LISTED_MAX } },
)

/** The user’s collections and newest documents, as options `collection:ID` and `document:ID`. */
export function useScopeOptions(isNeeded: boolean): PickOption[] {
  const documents = useQuery({ ...chosenDocumentsQuery, enabled: isNeeded })
  const collections = useQuery({
    ...readQuery(['collections'], '/api/library/collections'),
    enabled: isNeeded,
  })
  return [
    ...(collections.data ?? []).map(({ id, name }) => ({
      value: `collection:${id}`,
      label: name,
      detail: t('Collection'),
    })),
    ...(documents.data ?? []).map(({ id, source }) => ({
      value: `document:${id}`,
      label: source ?? t('Pasted text'),
    })),
  ]
}
