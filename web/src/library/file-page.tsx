import { Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconDownload, IconMessageQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { api, request } from '../api/client.ts'
import { Choice } from '../components/choice.tsx'
import { formatBytes } from '../components/format.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { saveFile } from '../components/save-file.ts'
import { DocumentText } from '../documents/document-text.tsx'
import { isFormatted } from '../documents/formatted-text.tsx'
import { t } from '../language/text.ts'
import { canConverse, useUser } from '../session/user.ts'

const route = getRouteApi('/app/library/$id')
const PdfView = lazyPart(() => import('../documents/pdf-view.tsx'), 'PdfView')

/**
 * Document at a passage, or at the sentence quoted in the fragment, which never reaches a server's
 * log.
 */
export function FilePage() {
  const { id } = route.useParams()
  const { chunk, page } = route.useSearch()
  const quote = useLocation({ select: ({ hash }) => decodeHash(hash) })
  const passageId = chunk === undefined ? id : `${id}_${chunk}`
  const stored = useQuery({
    queryKey: ['documents', 'opened', passageId],
    queryFn: async ({ signal }) => {
      const query = { limit: 1 }
      const document = await api.get('/api/library/documents/{document_id}', {
        path: { document_id: passageId },
        query,
        signal,
      })
      const [span] = document.spans
      const { content } = document
      return {
        document,
        passage: span === undefined || content === null ? null : { ...span, content },
      }
    },
  })
  const canAsk = canConverse(useUser())
  const [view, setView] = useState<'page' | 'text'>('page')
  const name = stored.data?.document.source ?? t('Pasted text')

  return (
    <Page
      title={name}
      lead={<TextLink to="/library">{t('Library')}</TextLink>}
      actions={
        <Group gap="xs">
          {canAsk && (
            <LinkButton
              to="/home"
              search={{ document: id }}
              leftSection={<IconMessageQuestion size={18} aria-hidden />}
            >
              {t('Ask about this')}
            </LinkButton>
          )}
          {stored.data?.document.file && <Download id={id} {...stored.data.document.file} />}
        </Group>
      }
      wide
    >
      <Loaded query={stored} skeleton={<Skeleton h={800} />}>
        {({ document: { file }, passage }) => {
          const shownName = file?.name ?? name
          const isPdf = file?.name.toLowerCase().endsWith('.pdf') === true
          return (
            <Stack>
              {passage?.heading && <Text c="dimmed">{passage.heading}</Text>}
              {(isPdf || isFormatted(shownName)) && (
                <div>
                  <Choice
                    label={t('Show')}
                    value={view}
                    choices={[
                      { value: 'page', label: isPdf ? t('Pages') : t('Formatted') },
                      { value: 'text', label: t('Text') },
                    ]}
                    onChange={setView}
                  />
                </div>
              )}
              <Card>
                {isPdf && view === 'page' ? (
                  <Suspense fallback={<Skeleton h={800} />}>
                    <PdfView
                      documentId={id}
                      name={name}
                      page={page ?? passage?.page ?? 1}
                      passage={quote || (passage?.content ?? null)}
                    />
                  </Suspense>
                ) : (
                  <DocumentText
                    documentId={id}
                    passage={passage}
                    quote={quote}
                    formattedAs={view === 'page' && isFormatted(shownName) ? shownName : null}
                  />
                )}
              </Card>
            </Stack>
          )
        }}
      </Loaded>
    </Page>
  )
}

function decodeHash(hash: string): string {
  try {
    return decodeURIComponent(hash)
  } catch {
    // The fragment is already decoded and contains a percent sign.
    return hash
  }
}

function Download({ id, name, bytes: sizeBytes }: { id: string; name: string; bytes: number }) {
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={18} aria-hidden />}
      onClick={async () => {
        const response = await request('GET', '/api/library/documents/{document_id}/file', {
          path: { document_id: id },
        })
        await saveFile(response, name)
      }}
    >
      {t('Download ({0})', formatBytes(sizeBytes))}
    </Button>
  )
}
