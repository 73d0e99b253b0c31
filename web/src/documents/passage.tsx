import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Chunk, Quote } from '../api/types.ts'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import classes from './passage.module.css'
import { formatPlace } from './place.ts'

/** Characters that fit into five lines on a phone. */
const LONG = 180

type PassageProps = {
  chunk: Chunk
  mark?: ReactNode
  id?: string
  highlighted?: boolean
  /** Cited sentences; each links to its place in the document. */
  quotes?: Quote[]
}

/** Passage with its source and relevance (cosine similarity, at most 1). */
export function Passage({ chunk, mark, id, highlighted = false, quotes = [] }: PassageProps) {
  const [isExpanded, setIsExpanded] = useState(false)
  const isFolded = quotes.length > 0 || chunk.content.length > LONG
  const { source, chunk_index, total_chunks } = chunk.metadata
  const { pages, heading } = formatPlace(chunk)
  const buildLink = (quote: Quote | undefined) => ({
    to: '/library/$id' as const,
    params: { id: chunk.id.split('_')[0] ?? '' },
    search: {
      chunk: typeof chunk_index === 'number' ? chunk_index : undefined,
      page: quote?.page ?? undefined,
    },
    ...(quote && { hash: quote.text }),
  })
  return (
    <Paper
      withBorder
      p="md"
      radius="md"
      id={id}
      tabIndex={id ? -1 : undefined}
      style={
        highlighted
          ? { borderColor: 'var(--latch-brass)', boxShadow: '0 0 0 1px var(--latch-brass)' }
          : undefined
      }
    >
      <Group justify="space-between" wrap="nowrap" mb={6} gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          {mark}
          <TextLink {...buildLink(quotes[0])} fw={600} size="sm" truncate>
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
      {quotes.map((quote) => (
        <blockquote key={quote.start} className={classes.quote}>
          <TextLink
            {...buildLink(quote)}
            size="sm"
            dir="auto"
            c="inherit"
            className={classes.content ?? ''}
          >
            {quote.text}
          </TextLink>
          {quote.page !== null && (
            <Text c="dimmed" size="sm" span>
              {' '}
              p. {quote.page}
            </Text>
          )}
        </blockquote>
      ))}
      {(quotes.length === 0 || isExpanded) && (
        <Text
          size="sm"
          dir="auto"
          lineClamp={isExpanded ? undefined : 5}
          className={classes.content ?? ''}
        >
          {chunk.content.trim()}
        </Text>
      )}
      {isFolded && (
        <Button
          variant="subtle"
          px={0}
          mb={-12}
          onClick={() => setIsExpanded(!isExpanded)}
          aria-expanded={isExpanded}
        >
          {isExpanded ? t('Show less') : quotes.length > 0 ? t('Show passage') : t('Show all')}
        </Button>
      )}
    </Paper>
  )
}
