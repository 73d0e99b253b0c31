import { Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StorageRoom } from '../api/types.ts'
import { bytes, compact } from '../components/format.ts'
import { storageQuery } from './documents-query.ts'

const NAMES = { documents: 'Documents', characters: 'Characters', chunks: 'Passages', file_bytes: 'Files' } as const

/** How much of the plan's room is used; nothing where the plan has no such limit. */
export function StorageMeter() {
  const { data } = useQuery(storageQuery)
  if (!data) return null
  const bounded = (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((name) => {
    const { used, max } = data[name]
    return max === null ? [] : [{ name: NAMES[name], used, max, told: name === 'file_bytes' ? bytes : compact }]
  })
  return bounded.length === 0 ? null : (
    <Stack component="section" aria-label="Storage" gap="xs" mt="sm">
      {bounded.map((room) => (
        <Meter key={room.name} {...room} />
      ))}
    </Stack>
  )
}

type MeterProps = { name: string; used: StorageRoom['used']; max: number; told: (n: number) => string }

function Meter({ name, used, max, told }: MeterProps) {
  const share = Math.min(100, (used / max) * 100)
  const color = share >= 100 ? 'red' : share >= 80 ? 'brass' : 'pine'
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{name}</Text>
        <Text size="sm" className="numbers">
          {told(used)} of {told(max)}
          {share >= 100 && ': delete some to add more'}
        </Text>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section value={share} color={color} aria-label={`${name}: used`} />
      </Progress.Root>
    </div>
  )
}
