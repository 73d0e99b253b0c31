import { Stack, Text } from '@mantine/core'
import type { Chunk } from '../api/types.ts'
import { Passage } from '../documents/passage.tsx'

/** What came nearest to a question that nothing was near enough to answer: often it is there, only in other words. */
export function NearestPassages({ chunks }: { chunks: Chunk[] }) {
  if (chunks.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label="The nearest passages">
      <Text size="sm">The nearest in your documents, though not near enough for an answer:</Text>
      {chunks.map((chunk) => (
        <Passage key={chunk.id} chunk={chunk} />
      ))}
    </Stack>
  )
}
