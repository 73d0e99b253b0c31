import { Skeleton } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { plural } from './format.ts'
import { Loaded } from './loaded.tsx'
import { MoreRows } from './more-rows.tsx'

type EndlessListProps<Page, Row> = {
  query: UseInfiniteQueryResult<InfiniteData<Page>>
  /** Returns the rows of a page. */
  rows: (page: Page) => readonly Row[]
  /** The noun for a row; `several` is its plural unless that ends with an s. */
  what: string
  several?: string
  /** Shown when there are no rows. */
  none: ReactNode
  children: (rows: Row[]) => ReactNode
}

/** A list that loads page by page. */
export function EndlessList<Page, Row>(props: EndlessListProps<Page, Row>) {
  const { query, rows, what, several, none, children } = props
  return (
    <Loaded query={query} skeleton={<Skeleton h={420} />}>
      {({ pages }) => {
        const loaded = pages.flatMap(rows)
        if (loaded.length === 0 && !query.hasNextPage) return none
        return (
          <>
            {children(loaded)}
            <MoreRows loaded={plural(loaded.length, what, several)} query={query} />
          </>
        )
      }}
    </Loaded>
  )
}
