import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { IconSearch, IconSearchOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { readinessQuery } from '../api/readiness.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Passage } from '../documents/passage.tsx'
import { t } from '../language/text.ts'
import classes from './library-search.module.css'
import { getSearchHints, MIN_SCORE } from './search-hints.ts'

const route = getRouteApi('/app/library')

/**
 * Search in the user's files. The address holds the query, so that searches can be bookmarked
 * and shared.
 */
export function LibrarySearch() {
  const { q } = route.useSearch()
  const navigate = useNavigate()
  const [query, setQuery] = useState(q ?? '')
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
    const trimmed = query.trim()
    void navigate({
      to: '/library',
      search: (search) => ({ ...search, q: trimmed || undefined }),
      resetScroll: false,
    })
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
