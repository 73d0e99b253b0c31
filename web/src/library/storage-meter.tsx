import { Alert, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StorageRoom } from '../api/types.ts'
import { formatBytes, formatCompact } from '../components/format.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { storageQuery } from './files-query.ts'

const NAMES = {
  documents: t('Documents'),
  characters: t('Characters'),
  chunks: t('Passages'),
  file_bytes: t('Files'),
} as const

/** Share of a limit from which its meter is shown. */
const SHOWN_FROM = 0.5

/** Progress of an embedder change; nothing at other times. */
export function EmbeddingProgress() {
  const { data } = useQuery({
    ...storageQuery,
    refetchInterval: ({ state }) => (state.data?.embedding ? 5_000 : false),
  })
  if (!data?.embedding) return null
  const { done, total } = data.embedding
  return (
    <Alert role="status" mt="sm" title={t('Rebuilding your search index')}>
      <Text size="sm">
        {t(
          '{0} of {1} passages done. Until then, some results come from a word search only.',
          formatCompact(done),
          formatCompact(total),
        )}
      </Text>
      <Progress.Root size="sm" mt="xs">
        <Progress.Section
          value={total === 0 ? 0 : Math.round((done / total) * 10_000) / 100}
          color="pine"
          aria-label={t('Passages indexed')}
        />
      </Progress.Root>
    </Alert>
  )
}

/** Storage limits of the plan that are at least half used. */
export function StorageMeter() {
  const { data } = useQuery(storageQuery)
  if (!data) return null
  const bounded = (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((name) => {
    const { used, max } = data[name]
    return max === null || used < SHOWN_FROM * max
      ? []
      : [
          {
            name: NAMES[name],
            used,
            max,
            format: name === 'file_bytes' ? formatBytes : formatCompact,
          },
        ]
  })
  return bounded.length === 0 ? null : (
    <Stack component="section" aria-label={t('Storage')} gap="xs" mt="sm">
      {bounded.map((limit) => (
        <Meter key={limit.name} {...limit} />
      ))}
    </Stack>
  )
}

type MeterProps = {
  name: string
  used: StorageRoom['used']
  max: number
  format: (n: number) => string
}

function Meter({ name, used, max, format }: MeterProps) {
  // Rounded, because screen readers cannot read 2e-7.
  const share = Math.min(100, Math.round((used / max) * 10_000) / 100)
  const color = share >= 100 ? 'red' : share >= 80 ? 'brass' : 'pine'
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{name}</Text>
        <Text size="sm" className="numbers">
          {rich(
            '{0} of {1}{2}',
            format(used),
            format(max),
            share >= 100 && t(': delete some to add more'),
          )}
        </Text>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section value={share} color={color} aria-label={t('{0}: used', name)} />
      </Progress.Root>
    </div>
  )
}
