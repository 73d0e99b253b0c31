import { Button, Group, Text } from '@mantine/core'
import { t } from '../language/text.ts'

type MoreRowsProps = {
  /** `3 orders`, as far as they have loaded. */
  loaded: string
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** The end of a list that loads page by page. */
export function MoreRows({ loaded, query }: MoreRowsProps) {
  return (
    <Group justify="space-between" mt="md">
      <Text c="dimmed" size="sm" role="status">
        {loaded}
        {query.hasNextPage ? t(' so far') : t(' in total')}
      </Text>
      {query.hasNextPage && (
        <Button
          variant="light"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('Show more')}
        </Button>
      )}
    </Group>
  )
}
