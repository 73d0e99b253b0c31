import { Group, Pagination, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ListUsersResponse } from '../api/types.ts'
import { plural } from '../components/format.ts'

const route = getRouteApi('/app/admin')

/** Returns the list's page from the address. */
export function usePage(): number {
  return route.useSearch().page ?? 1
}

type PagesProps = {
  paged: Pick<ListUsersResponse, 'page' | 'pages' | 'total'>
  what: string
  several?: string
}

export function Pages({ paged, what, several }: PagesProps) {
  const navigate = route.useNavigate()
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
              search: (search) => ({ ...search, page: page === 1 ? undefined : page }),
              resetScroll: false,
            })
          }
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        />
      )}
    </Group>
  )
}
