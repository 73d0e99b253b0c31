import { IconArrowRight, IconChevronRight, IconRefresh } from '@tabler/icons-react'
import { memo, useCallback, useMemo, useRef, useState } from 'react'
import { LinkButton } from '../../components/links.tsx'
import { SandboxMail } from '../../components/sandbox-mail.tsx'
import { t } from '../../language/text.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import type { Message, Reasoning as ReasoningText } from '../api.ts'
import { findUnsupported, resolveMarks } from '../citations.ts'
import type { LiveAnswer } from '../live/live-answer.ts'
import { useLiveState } from '../live/live-answers.ts'
import { createAnswer, readText } from '../live/turns.ts'
import classes from './answer.module.css'
import { AnswerContext, type AnswerSources } from './answer-context.ts'
import { AnswerFooter } from './answer-footer.tsx'
import { renderCitation } from './citation-mark.tsx'
import { describeEnding } from './ending.ts'
import { SourceList } from './source-list.tsx'
import { ToolLines } from './tool-lines.tsx'

export type AnswerActions = {
  /** Undefined model: the same one. */
  onRetry: (answer: Message, model?: string) => void
  onContinue: () => void
  onChoose: (id: string) => void
  /** `place`: a mark’s index, or `sN` for source N. */
  onOpenSource: (answerId: string, place: string) => void
}

type AnswerProps = {
  message: Message
  /** Set while it is written; then its state is shown instead of the message. */
  live: LiveAnswer | null
  isLast: boolean
  isLocked: boolean
} & AnswerActions

/** Memoized: only the answer in progress renders for each frame. */
export const Answer = memo(function Answer({
  message,
  live,
  isLast,
  isLocked,
  ...actions
}: AnswerProps) {
  const state = useLiveState(live, (one) => one)
  const answer = useMemo(() => (state === null ? message : createAnswer(state)), [state, message])
  const [showsSources, setShowsSources] = useState(false)
  const text = readText(answer)
  const isWriting = answer.outcome === 'running'
  const isThinking = state?.isThinking === true
  const sources = useAnswerSources(answer, text, actions.onOpenSource)
  return (
    <article className={classes.answer} data-message={answer.id} aria-busy={isWriting}>
      <h2 className="visually-hidden">{t('Answer')}</h2>
      {answer.reasoning && (
        <Reasoning reasoning={answer.reasoning} isThinking={isWriting && isThinking} />
      )}
      <ToolLines tools={answer.tools} isWriting={isWriting} />
      {isWriting && text === '' && !isThinking && <Waiting />}
      {text !== '' && (
        <div className={classes.text}>
          <AnswerContext value={sources}>
            <Markdown text={text} streaming={isWriting} cite={renderCitation} />
          </AnswerContext>
        </div>
      )}
      {!isWriting && (
        <>
          <Unsupported statements={findUnsupported(text, answer.citations)} />
          <EndingNote
            message={answer}
            hasText={text.trim() !== ''}
            onContinue={isLast ? actions.onContinue : undefined}
            onRetry={isLast ? () => actions.onRetry(answer) : undefined}
          />
          <AnswerFooter
            message={answer}
            text={text}
            isLocked={isLocked}
            showsSources={showsSources}
            onSources={() => setShowsSources(!showsSources)}
            onRetry={actions.onRetry}
            onChoose={actions.onChoose}
          />
          {showsSources && (
            <SourceList
              message={answer}
              text={text}
              onOpen={(place) => actions.onOpenSource(answer.id, place)}
            />
          )}
        </>
      )}
    </article>
  )
})

/** The object is stable while the text grows, so that marks render again only for new sources. */
function useAnswerSources(
  { id, sources, citations }: Message,
  text: string,
  onOpenSource: AnswerActions['onOpenSource'],
): AnswerSources {
  const latest = useRef(text)
  latest.current = text
  const resolve = useCallback(
    (ordinal: number) => resolveMarks(latest.current, sources, citations)[ordinal] ?? null,
    [sources, citations],
  )
  return useMemo(
    () => ({ sources, resolve, open: (ordinal) => onOpenSource(id, String(ordinal)) }),
    [sources, resolve, onOpenSource, id],
  )
}

function Waiting() {
  return (
    <p className={classes.waiting} role="status" aria-label={t('Waiting for the answer')}>
      <span />
    </p>
  )
}

function Unsupported({ statements }: { statements: string[] }) {
  if (statements.length === 0) return null
  return (
    <section className={classes.unsupported} aria-label={t('Unsupported statements')}>
      <p>
        {statements.length === 1
          ? t('The sources do not support this statement:')
          : t('The sources do not support these statements:')}
      </p>
      <ul>
        {statements.map((statement) => (
          <li key={statement} dir="auto">
            {statement}
          </li>
        ))}
      </ul>
    </section>
  )
}

type ReasoningProps = {
  reasoning: ReasoningText
  /** True while the model thinks. */
  isThinking: boolean
}

/** The model's reasoning, folded. Vendors show only a part of it. */
function Reasoning({ reasoning: { text, ms }, isThinking }: ReasoningProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className={classes.steps} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <IconChevronRight size={16} aria-hidden />
        <span data-busy={isThinking || undefined} role="status">
          {isThinking ? t('Thinking…') : describeTime(ms)}
        </span>
      </summary>
      {isOpen && (
        <div className={classes.reasoning}>
          <Markdown text={text} streaming={isThinking} />
        </div>
      )}
    </details>
  )
}

function describeTime(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  if (seconds < 60) return t('Thought for {0} s', seconds)
  return t('Thought for {0} min {1} s', Math.floor(seconds / 60), seconds % 60)
}

type EndingNoteProps = {
  message: Message
  hasText: boolean
  onContinue: (() => void) | undefined
  onRetry: (() => void) | undefined
}

/** Says why an answer is incomplete, with what helps. */
function EndingNote({ message, hasText, onContinue, onRetry }: EndingNoteProps) {
  const ending = describeEnding(message, hasText)
  if (ending === null) return null
  const isProblem = ending.tone === 'problem'
  return (
    <div className={classes.ending} data-tone={ending.tone} role={isProblem ? 'alert' : undefined}>
      <p>{ending.text}</p>
      {ending.action === 'plans' && (
        <LinkButton to="/pricing" variant="default">
          {t('See plans')}
        </LinkButton>
      )}
      {ending.action === 'verify' && <SandboxMail />}
      {ending.canContinue && onContinue && (
        <button type="button" onClick={onContinue}>
          {t('Continue')} <IconArrowRight size={17} aria-hidden />
        </button>
      )}
      {isProblem && !ending.canContinue && ending.action !== 'plans' && onRetry && (
        <button type="button" onClick={onRetry}>
          <IconRefresh size={17} aria-hidden /> {t('Try again')}
        </button>
      )}
    </div>
  )
}
