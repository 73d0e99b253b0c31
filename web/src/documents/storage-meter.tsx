import { Alert, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StorageRoom } from '../api/types.ts'
import { formatBytes, formatCompact } from '../components/format.ts'
import { storageQuery } from './documents-query.ts'

const NAMES = {
  documents: 'Documents',
  characters: 'Characters',
  chunks: 'Passages',
  file_bytes: 'Files',
} as const

/** While the server's embedder is changed; nothing at other times. */
export function EmbeddingProgress() {
  const { data } = useQuery({
    ...storageQuery,
    refetchInterval: ({ state }) => (state.data?.embedding ? 5_000 : false),
  })
  if (!data?.embedding) return null
  const { done, total } = data.embedding
  return (
    <Alert role="status" mt="sm" title="Your documents are being embedded anew">
      <Text size="sm">
        The server has a new embedder. {formatCompact(done)} of {formatCompact(total)} passages are
        done; until then searches and questions compare as before, or by words alone. There is
        nothing for you to do.
      </Text>
      <Progress.Root size="sm" mt="xs">
        <Progress.Section
          value={total === 0 ? 0 : Math.round((done / total) * 10_000) / 100}
          color="pine"
          aria-label="Passages: embedded anew"
        />
      </Progress.Root>
    </Alert>
  )
}

/** How much of the plan's room is used; nothing where the plan has no such limit. */
export function StorageMeter() {
  const { data } = useQuery(storageQuery)
  if (!data) return null
  const bounded = (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((name) => {
    const { used, max } = data[name]
    return max === null
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
      {bounded.map((room) => (
        <Meter key={room.name} {...room} />
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
  // A tiny share would be written as 2e-7, which no screen reader takes for a number.
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
