import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { readQuery } from '../api/queries.ts'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { FormattedText } from './formatted-text.tsx'
import { findPassage, findQuote } from './highlights.ts'
import classes from './passage.module.css'

type Marked = { id: string; start: number; end: number }
type DocumentTextProps = {
  documentId: string
  passage: (Marked & { content: string }) | null
  /** A sentence of the passage, to mark instead of the whole passage. */
  quote: string
  /** Null shows the plain text; the name of a file, its headings, lists and tables. */
  formattedAs: string | null
}

/** Document text with a passage or sentence marked. */
export function DocumentText({ documentId, passage, quote, formattedAs }: DocumentTextProps) {
  const id = passage?.id ?? documentId
  const text = useQuery(
    readQuery(['documents', 'text', id], '/api/library/documents/{document_id}/text', {
      path: { document_id: id },
    }),
  )
  return (
    <Loaded query={text} skeleton={<Skeleton h={600} />}>
      {({ text, next }) => (
        <>
          {formattedAs === null ? (
            <MarkedText text={text} passage={passage} quote={quote} />
          ) : (
            <FormattedText
              name={formattedAs}
              text={text}
              passage={passage?.content ?? ''}
              quote={quote}
            />
          )}
          {next !== null && (
            <Text c="dimmed" mt="md">
              {t('The document continues. This is the part with the passage.')}
            </Text>
          )}
        </>
      )}
    </Loaded>
  )
}

function MarkedText({
  text,
  passage,
  quote,
}: { text: string } & Pick<DocumentTextProps, 'passage' | 'quote'>) {
  const around = passage && findPassage(text, passage.content, passage.start)
  const place = (quote !== '' && findQuote(text, quote, around?.from ?? 0)) || around
  if (!place) return <Text className={classes.text ?? ''}>{text}</Text>
  return (
    <Text component="div" dir="auto" className={classes.text ?? ''}>
      {text.slice(0, place.from)}
      <mark key={place.from} ref={intoView}>
        {text.slice(place.from, place.to)}
      </mark>
      {text.slice(place.to)}
    </Text>
  )
}

function intoView(mark: HTMLElement | null): void {
  mark?.scrollIntoView({ block: 'center' })
}
