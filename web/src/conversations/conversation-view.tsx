import { IconArrowDown } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useStickToBottom } from '../components/stick-to-bottom.ts'
import { t } from '../language/text.ts'
import { Composer, type ComposerOptions } from './composer/composer.tsx'
import classes from './conversation-view.module.css'
import { useLiveState } from './live/live-answers.ts'
import { createAnswer } from './live/turns.ts'
import { findOpenedSource } from './source/opened-source.ts'
import { SourcePane } from './source/source-pane.tsx'
import type { Ask, Thread } from './thread.ts'
import './tokens.css'
import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useStable } from './parts/use-stable.ts'
import { TurnList } from './turn-list.tsx'
import { PeekProvider } from './turns/peek.tsx'

type ConversationViewProps = {
  thread: Thread
  header: ReactNode
  /** Shown above and below the composer while the conversation is empty. */
  welcome?: { above: ReactNode; below?: ReactNode }
  draftId: string | null
  options: ComposerOptions
  onOptions: (change: Partial<ComposerOptions>) => void
  /** Replaces `thread.ask`; the text stays in its field when it fails. */
  onAsk?: (ask: Ask) => Promise<void>
}

/** A conversation with its composer, and the opened source beside it. */
export function ConversationView({
  thread,
  header,
  welcome,
  draftId,
  options,
  onOptions,
  onAsk,
}: ConversationViewProps) {
  const frame = useRef<HTMLDivElement>(null)
  const stick = useStickToBottom()
  const [editing, setEditing] = useState<string | null>(null)
  const isWriting = useLiveState(thread.live, (state) => state.outcome) === 'running'
  const { opened, open, move, close } = useSource(thread, frame)
  const isEmpty = thread.messages.length === 0 && thread.live === null

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented && opened) close()
  }
  return (
    // Escape closes the source from anywhere in the conversation.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above.
    <div ref={frame} className={classes.frame} data-fills onKeyDown={onKeyDown}>
      <div className={classes.main} data-empty={isEmpty || undefined}>
        {header}
        <div className={classes.scrolled}>
          <div
            ref={stick.box}
            onScroll={stick.onScroll}
            className={classes.log}
            role="log"
            aria-label={t('Conversation')}
            aria-busy={isWriting}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
            tabIndex={0}
          >
            <div ref={stick.content} className={classes.column}>
              {isEmpty && welcome?.above}
              {thread.hasEarlier && (
                <button type="button" className={classes.earlier} onClick={thread.loadEarlier}>
                  {t('Show earlier messages')}
                </button>
              )}
              <PeekProvider>
                <TurnList
                  thread={thread}
                  options={options}
                  editing={editing}
                  onEditing={setEditing}
                  onOpenSource={(answerId, place) => open(`${answerId}.${place}`)}
                />
              </PeekProvider>
            </div>
          </div>
          {stick.away && (
            <button
              type="button"
              className={classes.jump}
              aria-label={t('Jump to latest')}
              onClick={() => {
                stick.jump()
                stick.box.current?.focus({ preventScroll: true })
              }}
            >
              <IconArrowDown size={19} aria-hidden />
            </button>
          )}
        </div>
        <div className={classes.bottom}>
          <Composer
            draftId={draftId}
            options={options}
            onOptions={onOptions}
            isWriting={isWriting}
            placeholder={isEmpty ? t('Ask anything') : t('Ask a follow-up')}
            onSend={async (ask) => {
              await (onAsk ?? thread.ask)(ask)
              stick.jump()
            }}
            onStop={thread.stop}
            onUp={() =>
              setEditing(thread.messages.findLast(({ role }) => role === 'user')?.id ?? null)
            }
          />
        </div>
        {isEmpty && welcome?.below && <div className={classes.below}>{welcome.below}</div>}
      </div>
      {opened && (
        <SourcePane
          key={opened.answerId}
          opened={opened}
          onMove={(place) => move(`${opened.answerId}.${place}`)}
          onClose={close}
        />
      )}
    </div>
  )
}

/** The opened source, found in the stored messages or in the answer in progress. */
function useSource(thread: Thread, frame: React.RefObject<HTMLElement | null>) {
  const { source, ...moves } = useOpenSource()
  const { live } = thread
  const written = source === undefined || live === null ? [] : [createAnswer(live.state)]
  const opened = findOpenedSource([...thread.messages, ...written], source)
  const address = opened === null ? null : `${opened.answerId}.${opened.all[opened.at]?.place}`
  const last = useRef(address)

  // The mark stays in view while its source is open, and gets the focus back.
  useEffect(() => {
    const [answerId, place] = (address ?? last.current ?? '').split('.')
    const mark = frame.current?.querySelector<HTMLElement>(
      `[data-message="${answerId}"] [data-ordinal="${place}"]`,
    )
    mark?.scrollIntoView({ block: 'nearest' })
    if (address === null && last.current !== null) mark?.focus({ preventScroll: true })
    last.current = address
  }, [address, frame])

  return { opened, ...moves }
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The page before this one is the same conversation without a source. */
    openedFromAnswer?: boolean
  }
}

/** The source in the address: `?source=ANSWER.PLACE`. Back closes it. */
function useOpenSource() {
  const router = useRouter()
  const navigate = useNavigate()
  const { source, state } = useRouterState({
    select: ({ location }) => ({
      source: (location.search as { source?: string }).source,
      state: location.state,
    }),
    structuralSharing: true,
  })
  const go = (next: string | undefined, replace: boolean, openedFromAnswer: boolean) =>
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, source: next }),
      replace,
      resetScroll: false,
      state: { openedFromAnswer },
    } as never)

  const open = useStable((next: string) => {
    if (source === undefined) go(next, false, true)
    else go(next, true, state.openedFromAnswer === true)
  })
  const close = useStable(() => {
    if (state.openedFromAnswer) router.history.back()
    else go(undefined, true, false)
  })
  const move = useStable((next: string) => go(next, true, state.openedFromAnswer === true))
  return { source, open, move, close }
}
