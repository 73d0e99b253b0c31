import { ActionIcon, Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { request } from '../api/client.ts'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { closeWithQuery } from './close-with-query.ts'
import { drawPage, type HighlightBox, openPdf } from './pdf.ts'
import classes from './pdf-page.module.css'

type PdfViewProps = { documentId: string; name: string; page: number; passage: string | null }

/** PDF page with a passage highlighted. */
export function PdfView({ documentId, name, page, passage }: PdfViewProps) {
  const pdf = useQuery({
    queryKey: ['documents', 'file', documentId],
    queryFn: async ({ signal, client, queryKey }) => {
      const path = { document_id: documentId }
      const response = await request('GET', '/api/library/documents/{document_id}/file', {
        path,
        signal,
      })
      const opened = await openPdf(await response.arrayBuffer())
      // Each PDF has a worker that holds the file until it is destroyed.
      const close = () => void opened.loadingTask.destroy()
      if (signal.aborted) close()
      else closeWithQuery(client, queryKey, opened, close)
      return opened
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
  const [number, setNumber] = useState(page)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [highlights, setHighlights] = useState<HighlightBox[]>([])
  const [failed, setFailed] = useState(false)
  const document = pdf.data

  useEffect(() => setNumber(page), [page])
  useEffect(() => {
    const target = canvas.current
    if (document === undefined || target === null) return
    let isStale = false
    setHighlights([])
    setFailed(false)
    document
      .getPage(number)
      .then((one) =>
        drawPage(one, target, { width: target.parentElement?.clientWidth || 800, passage }),
      )
      .then((found) => !isStale && setHighlights(found))
      .catch(() => !isStale && setFailed(true))
    return () => {
      isStale = true
    }
  }, [document, number, passage])

  return (
    <Loaded query={pdf} skeleton={<Skeleton h={800} />}>
      {({ numPages }) => (
        <Stack gap="sm">
          <Group justify="center" gap="xs">
            <ActionIcon
              onClick={() => setNumber(number - 1)}
              disabled={number <= 1}
              aria-label={t('Previous page')}
            >
              <IconChevronLeft size={20} aria-hidden />
            </ActionIcon>
            <Text className="numbers" aria-live="polite">
              {t('Page {0} of {1}', number, numPages)}
            </Text>
            <ActionIcon
              onClick={() => setNumber(number + 1)}
              disabled={number >= numPages}
              aria-label={t('Next page')}
            >
              <IconChevronRight size={20} aria-hidden />
            </ActionIcon>
          </Group>
          {failed && <Text c="red">{t('Couldn’t render this page. Read it under “Text”.')}</Text>}
          <div className={classes.page}>
            {/* A new canvas for each page: pdf.js renders one page per canvas at a time. */}
            <canvas
              key={number}
              ref={canvas}
              role="img"
              aria-label={t('Page {0} of {1}', number, name)}
            />
            {highlights.map(({ left, top, width, height }, i) => (
              <div
                ref={i === 0 ? intoView : undefined}
                key={`${left} ${top}`}
                className={classes.highlight}
                data-highlight
                style={{
                  left: `${left * 100}%`,
                  top: `${top * 100}%`,
                  width: `${width * 100}%`,
                  height: `${height * 100}%`,
                }}
              />
            ))}
          </div>
        </Stack>
      )}
    </Loaded>
  )
}

function intoView(highlight: HTMLElement | null): void {
  highlight?.scrollIntoView({ block: 'center', inline: 'center' })
}
