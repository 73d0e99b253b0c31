import { Group, Pagination, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ListUsersResponse } from '../api/types.ts'
import { t } from '../language/text.ts'
import { plural } from './format.ts'

/** Returns the list's page from the address. */
export function usePage(): number {
  return useSearch({ strict: false, select: ({ page }) => page }) ?? 1
}

type PagesProps = {
  paged: Pick<ListUsersResponse, 'page' | 'pages' | 'total'>
  what: string
  several?: string
}

/** The end of a list that is read page by page. */
export function Pages({ paged, what, several }: PagesProps) {
  const navigate = useNavigate()
  return (
    <Group justify="space-between" mt="md">
      <Text c="dimmed" size="sm">
        {plural(paged.total, what, several)}
      </Text>
      {paged.pages > 1 && (
        <Pagination
          total={paged.pages}
          value={paged.page}
          onChange={(page) =>
            void navigate({
              to: '.',
              search: (search) => ({ ...search, page: page === 1 ? undefined : page }),
              resetScroll: false,
            })
          }
          getControlProps={(control) => ({ 'aria-label': t('{0} page', control) })}
        />
      )}
    </Group>
  )
}
