import { Badge, Group, Paper, Spoiler, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Chunk } from '../api/types.ts'

type PassageProps = { chunk: Chunk; mark?: ReactNode; id?: string; lit?: boolean }

/** A stored passage with where it is from and how near it came (cosine similarity, 1 is the same). */
export function Passage({ chunk, mark, id, lit = false }: PassageProps) {
  const { source, chunk_index, total_chunks } = chunk.metadata
  return (
    <Paper
      withBorder
      p="md"
      radius="md"
      id={id}
      tabIndex={id ? -1 : undefined}
      style={lit ? { borderColor: 'var(--latch-accent)', boxShadow: '0 0 0 1px var(--latch-accent)' } : undefined}
    >
      <Group justify="space-between" wrap="nowrap" mb={6} gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          {mark}
          <Text fw={600} size="sm" truncate>
            {typeof source === 'string' ? source : 'Pasted text'}
          </Text>
          {typeof chunk_index === 'number' && typeof total_chunks === 'number' && (
            <Text c="dimmed" size="sm" style={{ whiteSpace: 'nowrap' }}>
              {chunk_index + 1} of {total_chunks}
            </Text>
          )}
        </Group>
        <Badge color="gray" className="numbers" style={{ flexShrink: 0 }}>
          {chunk.score.toFixed(2)}
        </Badge>
      </Group>
      <Spoiler maxHeight={104} showLabel="Show all" hideLabel="Show less">
        <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
          {chunk.content}
        </Text>
      </Spoiler>
    </Paper>
  )
}
