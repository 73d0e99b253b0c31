import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { IconSearch, IconSearchOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../api/client.ts'
import { readinessQuery } from '../api/readiness.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Passage } from '../documents/passage.tsx'
import { t } from '../language/text.ts'
import classes from './library-search.module.css'
import { getSearchHints, MIN_SCORE } from './search-hints.ts'

type LibrarySearchProps = {
  /** The query in the address, so that searches can be bookmarked and shared. */
  q: string | undefined
  onSearch: (q: string | undefined) => void
}

/** Search in the user's files. */
export function LibrarySearch({ q, onSearch }: LibrarySearchProps) {
  const [query, setQuery] = useState('')
  useEffect(() => setQuery(q ?? ''), [q])
  const { data: readiness } = useQuery(readinessQuery)
  const hints = getSearchHints(readiness?.embedder)
  const found = useQuery({
    queryKey: ['documents', 'search', q],
    queryFn: ({ signal }) =>
      api.post(
        '/api/library/search',
        { query: q ?? '', top_k: 8, min_score: MIN_SCORE },
        { signal },
      ),
    enabled: q !== undefined,
  })

  const search = (event: FormEvent) => {
    event.preventDefault()
    onSearch(query.trim() || undefined)
  }

  return (
    <>
      <search>
        <form onSubmit={search} className={classes.form}>
          <IconSearch size={18} aria-hidden />
          <input
            type="search"
            aria-label={t('Search your files')}
            placeholder={hints.placeholder}
            dir="auto"
            value={query}
            onChange={(event) => setQuery(event.currentTarget.value)}
          />
          <Button type="submit" variant="light" loading={found.isFetching}>
            {t('Search')}
          </Button>
        </form>
      </search>
      {q !== undefined && (
        <div aria-live="polite">
          <Loaded query={found} skeleton={<Skeleton h={560} mt="md" />}>
            {({ results }) =>
              results.length === 0 ? (
                <Notice icon={IconSearchOff} title={t('No results')} order={3}>
                  {hints.noResults} “{q}”.
                </Notice>
              ) : (
                <Stack mt="md" gap="sm">
                  <Text c="dimmed" size="sm">
                    {t('Closest passages for “{0}”', q)}
                  </Text>
                  {results.map((chunk) => (
                    <Passage key={chunk.id} chunk={chunk} query={q} />
                  ))}
                </Stack>
              )
            }
          </Loaded>
        </div>
      )}
    </>
  )
}
