import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Quote } from '../../api/types.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { Loaded } from '../../components/loaded.tsx'
import { DocumentText } from '../../documents/document-text.tsx'
import { isFormatted } from '../../documents/formatted-text.tsx'
import { t } from '../../language/text.ts'
import type { Source } from '../api.ts'
import { nameSource } from '../live/turns.ts'
import classes from './source-pane.module.css'

const PdfView = lazyPart(() => import('../../documents/pdf-view.tsx'), 'PdfView')

type SourceBodyProps = { source: Source; quote: Quote | null }

/** The original at the cited sentence: the page of a PDF, or the text of another document with its form. */
export function SourceBody({ source, quote }: SourceBodyProps) {
  const passageId = source.chunk_ids[0] ?? source.document_id
  const stored = useQuery({
    queryKey: ['documents', 'opened', passageId],
    queryFn: async ({ signal }) => {
      try {
        return await api.get('/api/library/documents/{document_id}', {
          path: { document_id: passageId },
          query: { limit: 1 },
          signal,
        })
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 404) return null
        throw error
      }
    },
    staleTime: 60_000,
  })
  return (
    <Loaded query={stored} skeleton={<div className={classes.loading} />}>
      {(document) => {
        if (document === null) return <Deleted source={source} />
        const { file, spans, content } = document
        const [span] = spans
        if (file?.name.toLowerCase().endsWith('.pdf')) {
          return (
            <PdfView
              documentId={source.document_id}
              name={nameSource(source)}
              page={quote?.page ?? source.page ?? span?.page ?? 1}
              passage={quote?.text ?? content ?? source.content}
            />
          )
        }
        const shownName = file?.name ?? source.name
        const passage = span === undefined || content === null ? null : { ...span, content }
        return (
          <DocumentText
            documentId={source.document_id}
            passage={passage}
            quote={quote?.text ?? ''}
            formattedAs={isFormatted(shownName) ? shownName : null}
          />
        )
      }}
    </Loaded>
  )
}

/** The answer keeps its passages when a document is deleted. */
function Deleted({ source: { content } }: { source: Source }) {
  return (
    <div className={classes.deleted}>
      <p>{t('This document was deleted. The answer used this passage:')}</p>
      <blockquote dir="auto">{content.trim()}</blockquote>
    </div>
  )
}
