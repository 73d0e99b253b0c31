import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import type { Reply } from '../api/operation.ts'
import { readQuery } from '../api/queries.ts'

const ADDRESS = '/api/library/documents'
const PAGE = 50
const RECENT = 6

export type LibraryFile = Reply<'GET', typeof ADDRESS>[number]
export type FileOrder = { sort: 'date' | 'name' | 'size'; collection: string | undefined }

/** Keys begin with `documents`, so that all lists are invalidated together. */
export const recentFilesQuery = queryOptions({
  queryKey: ['documents', 'recent'],
  queryFn: ({ signal }) => readPage({ limit: RECENT }, signal),
})

/** The newest files whose names contain a text. */
export function foundFilesQuery(text: string, limit: number) {
  return queryOptions({
    queryKey: ['documents', 'named', text, limit],
    queryFn: ({ signal }) => readPage({ limit, name_contains: text }, signal),
  })
}

/** Pages of files in an order. */
export function filesQuery({ sort, collection }: FileOrder) {
  return infiniteQueryOptions({
    queryKey: ['documents', 'list', sort, collection ?? ''],
    queryFn: ({ pageParam, signal }) =>
      readPage({ limit: PAGE, sort, collection, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (previous) => previous,
  })
}

export const collectionsQuery = readQuery(['documents', 'collections'], '/api/library/collections')

export type Collection = Reply<'GET', '/api/library/collections'>[number]

/** Shares the lists' key prefix. */
export const storageQuery = readQuery(['documents', 'storage'], '/api/library/storage')

type PageQuery = {
  limit: number
  name_contains?: string
  sort?: FileOrder['sort']
  collection?: string | undefined
  cursor?: string | undefined
}

async function readPage(query: PageQuery, signal: AbortSignal) {
  const response = await request('GET', ADDRESS, { query, signal })
  const files = (await response.json()) as LibraryFile[]
  return {
    files,
    total: Number(response.headers.get('x-total-count') ?? files.length),
    next: response.headers.get('x-next-cursor'),
  }
}
