import { Stack, Text } from '@mantine/core'
import type { Chunk } from '../api/types.ts'
import { Passage } from '../documents/passage.tsx'

/** Closest passages below the minimum relevance. They often hold the answer in other words. */
export function NearestPassages({ chunks }: { chunks: Chunk[] }) {
  if (chunks.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label="Closest passages">
      <Text size="sm">Closest passages, below the minimum relevance:</Text>
      {chunks.map((chunk) => (
        <Passage key={chunk.id} chunk={chunk} />
      ))}
    </Stack>
  )
}
