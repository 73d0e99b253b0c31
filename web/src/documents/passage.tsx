import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useState } from 'react'
import type { Chunk } from '../api/types.ts'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { findExcerpt, markWords } from './excerpt.ts'
import classes from './passage.module.css'
import { flattenTables } from './table-text.ts'

/** Characters that fit into five lines on a phone. */
const LONG = 180

type PassageProps = { chunk: Chunk; query: string }

/** Passage with its source and relevance (at most 1), from the sentence that the query is about. */
export function Passage({ chunk, query }: PassageProps) {
  const [isExpanded, setIsExpanded] = useState(false)
  const { source, chunk_index, total_chunks } = chunk.metadata
  const { pages, heading } = formatPlace(chunk)
  const content = flattenTables(chunk.content.trim())
  const start = content.length > LONG ? findExcerpt(content, query) : 0
  const isFolded = start > 0 || content.length > LONG
  const shown = isExpanded ? content : content.slice(start)
  return (
    <Paper withBorder p="md" radius="md">
      <Group justify="space-between" wrap="nowrap" mb={6} gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <TextLink
            to="/library/$id"
            params={{ id: chunk.id.split('_')[0] ?? '' }}
            search={{ chunk: typeof chunk_index === 'number' ? chunk_index : undefined }}
            fw={600}
            size="sm"
            truncate
          >
            {typeof source === 'string' ? source : t('Pasted text')}
          </TextLink>
          {pages !== null && (
            <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
              {pages}
            </Text>
          )}
          {pages === null &&
            typeof chunk_index === 'number' &&
            typeof total_chunks === 'number' && (
              <Text c="dimmed" size="sm" style={{ whiteSpace: 'nowrap' }}>
                {t('{0} of {1}', chunk_index + 1, total_chunks)}
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
      <Text
        size="sm"
        dir="auto"
        lineClamp={isExpanded ? undefined : 5}
        className={classes.content ?? ''}
      >
        {start > 0 && !isExpanded && '… '}
        {markWords(shown, query).map(({ at, text, isMatch }) =>
          isMatch ? <mark key={at}>{text}</mark> : text,
        )}
      </Text>
      {isFolded && (
        <Button
          variant="subtle"
          px={0}
          mb={-12}
          onClick={() => setIsExpanded(!isExpanded)}
          aria-expanded={isExpanded}
        >
          {isExpanded ? t('Show less') : t('Show all')}
        </Button>
      )}
    </Paper>
  )
}

/** Returns a passage's place in its file: `p. 3–4`, `Terms › Notice`. */
function formatPlace({ metadata }: Pick<Chunk, 'metadata'>): {
  pages: string | null
  heading: string | null
} {
  const { page, page_end, heading } = metadata
  const from = typeof page === 'number' ? page : null
  const to = typeof page_end === 'number' && page_end !== from ? `–${page_end}` : ''
  return {
    pages: from === null ? null : `p. ${from}${to}`,
    heading: typeof heading === 'string' && heading !== '' ? heading : null,
  }
}
