import { IconChevronLeft, IconChevronRight, IconExternalLink, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { Suspense, useEffect, useRef, useSyncExternalStore } from 'react'
import { lazyPart } from '../../components/lazy-part.ts'
import { t } from '../../language/text.ts'
import { nameSource } from '../live/turns.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { OpenedSource } from './opened-source.ts'
import classes from './source-pane.module.css'

const SourceBody = lazyPart(() => import('./source-body.tsx'), 'SourceBody')

type SourcePaneProps = {
  opened: OpenedSource
  onMove: (place: string) => void
  onClose: () => void
}

/** The cited sentence in its document: beside the answer, or as a sheet on narrow windows. */
export function SourcePane(props: SourcePaneProps) {
  return useIsNarrow() ? <Sheet {...props} /> : <Beside {...props} />
}

function Beside(props: SourcePaneProps) {
  const close = useRef<HTMLButtonElement>(null)
  useEffect(() => close.current?.focus({ preventScroll: true }), [])
  return (
    <aside
      className={classes.pane}
      aria-label={t('Source')}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        props.onClose()
      }}
    >
      <Content {...props} close={close} />
    </aside>
  )
}

function Sheet(props: SourcePaneProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const close = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    close.current?.focus({ preventScroll: true })
  }, [])
  return (
    <dialog
      ref={dialog}
      className={classes.sheet}
      aria-label={t('Source')}
      // Otherwise the conversation would close the source a second time.
      onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
      onClick={(event) => event.target === event.currentTarget && props.onClose()}
    >
      <Content {...props} close={close} />
    </dialog>
  )
}

type ContentProps = SourcePaneProps & { close: React.RefObject<HTMLButtonElement | null> }

function Content({ opened: { all, at }, onMove, onClose, close }: ContentProps) {
  const cited = all[at]
  if (cited === undefined) return null
  const { source, quote, number } = cited
  const [before, after] = [all[at - 1], all[at + 1]]
  return (
    <div className={classes.content}>
      <header className={classes.head}>
        <span className={classes.number} aria-hidden>
          {number}
        </span>
        <h2 className={classes.name}>{nameSource(source)}</h2>
        {all.length > 1 && (
          <span className={classes.steps}>
            <IconButton
              label={t('Previous citation')}
              data-tip-side="below"
              disabled={before === undefined}
              onClick={() => before && onMove(before.place)}
            >
              <IconChevronLeft size={19} aria-hidden />
            </IconButton>
            <span aria-live="polite">{t('{0} of {1}', at + 1, all.length)}</span>
            <IconButton
              label={t('Next citation')}
              data-tip-side="below"
              disabled={after === undefined}
              onClick={() => after && onMove(after.place)}
            >
              <IconChevronRight size={19} aria-hidden />
            </IconButton>
          </span>
        )}
        <Link
          to="/documents/$id"
          params={{ id: source.document_id }}
          className={classes.original}
          aria-label={t('Open in library')}
          title={t('Open in library')}
        >
          <IconExternalLink size={18} aria-hidden />
        </Link>
        <IconButton
          ref={close}
          label={t('Close source')}
          data-tip-side="below"
          data-tip-align="end"
          onClick={onClose}
        >
          <IconX size={19} aria-hidden />
        </IconButton>
      </header>
      {quote && (
        <blockquote className={classes.quote} dir="auto">
          {quote.text.trim()}
        </blockquote>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <section className={classes.body} tabIndex={0} aria-label={t('Document')}>
        <Suspense fallback={<div className={classes.loading} aria-busy="true" />}>
          <SourceBody key={source.document_id} source={source} quote={quote} />
        </Suspense>
      </section>
    </div>
  )
}

const narrow = matchMedia('(max-width: 60em)')

function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      narrow.addEventListener('change', changed)
      return () => narrow.removeEventListener('change', changed)
    },
    () => narrow.matches,
  )
}
