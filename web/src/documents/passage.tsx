import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Chunk } from '../api/types.ts'
import { TextLink } from '../components/links.tsx'
import classes from './passage.module.css'
import { placesOf } from './place.ts'

/** Characters that surely fit in the five lines shown at first, also on a phone. */
const LONG = 180

type PassageProps = { chunk: Chunk; mark?: ReactNode; id?: string; highlighted?: boolean }

/** A stored passage with where it is from and how near it came (cosine similarity, 1 is the same). */
export function Passage({ chunk, mark, id, highlighted = false }: PassageProps) {
  const [whole, setWhole] = useState(false)
  const long = chunk.content.length > LONG
  const { source, chunk_index, total_chunks } = chunk.metadata
  const { pages, heading } = placesOf(chunk)
  return (
    <Paper
      withBorder
      p="md"
      radius="md"
      id={id}
      tabIndex={id ? -1 : undefined}
      style={highlighted ? { borderColor: 'var(--latch-brass)', boxShadow: '0 0 0 1px var(--latch-brass)' } : undefined}
    >
      <Group justify="space-between" wrap="nowrap" mb={6} gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          {mark}
          <TextLink
            to="/documents/$id"
            params={{ id: chunk.id.split('_')[0] ?? '' }}
            search={{ chunk: typeof chunk_index === 'number' ? chunk_index : undefined }}
            fw={600}
            size="sm"
            truncate
          >
            {typeof source === 'string' ? source : 'Pasted text'}
          </TextLink>
          {pages !== null && (
            <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
              {pages}
            </Text>
          )}
          {pages === null && typeof chunk_index === 'number' && typeof total_chunks === 'number' && (
            <Text c="dimmed" size="sm" style={{ whiteSpace: 'nowrap' }}>
              {chunk_index + 1} of {total_chunks}
            </Text>
          )}
        </Group>
        <Badge color="gray" className="numbers" style={{ flexShrink: 0 }}>
          {chunk.score.toFixed(2)}
        </Badge>
      </Group>
      {heading !== null && (
        <Text c="dimmed" size="sm" dir="auto" mb={4}>
          {heading}
        </Text>
      )}
      <Text size="sm" dir="auto" lineClamp={whole ? undefined : 5} className={classes.content ?? ''}>
        {chunk.content.trim()}
      </Text>
      {long && (
        <Button variant="subtle" px={0} mb={-12} onClick={() => setWhole(!whole)} aria-expanded={whole}>
          {whole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </Paper>
  )
}
