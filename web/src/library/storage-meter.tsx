import { Alert, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StorageRoom } from '../api/types.ts'
import { formatBytes, formatCompact } from '../components/format.ts'
import { storageQuery } from './files-query.ts'

const NAMES = {
  documents: 'Documents',
  characters: 'Characters',
  chunks: 'Passages',
  file_bytes: 'Files',
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
    <Alert role="status" mt="sm" title="Rebuilding your search index">
      <Text size="sm">
        {formatCompact(done)} of {formatCompact(total)} passages done. Until then, some results come
        from a word search only.
      </Text>
      <Progress.Root size="sm" mt="xs">
        <Progress.Section
          value={total === 0 ? 0 : Math.round((done / total) * 10_000) / 100}
          color="pine"
          aria-label="Passages indexed"
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
    <Stack component="section" aria-label="Storage" gap="xs" mt="sm">
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
          {format(used)} of {format(max)}
          {share >= 100 && ': delete some to add more'}
        </Text>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section value={share} color={color} aria-label={`${name}: used`} />
      </Progress.Root>
    </div>
  )
}
