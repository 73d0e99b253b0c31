import {
  ActionIcon,
  Button,
  Group,
  Loader,
  Text,
  Title,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useCallback, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { EndingNote } from '../chat/ending-note.tsx'
import { CopyIcon } from '../components/copy.tsx'
import { plural } from '../components/format.ts'
import { Passage } from '../documents/passage.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { findQuotes } from './citations.ts'
import { NearestPassages } from './nearest-passages.tsx'
import classes from './question-view.module.css'
import { UnsupportedNote } from './unsupported-note.tsx'
import type { Question } from './use-questions.ts'

/**
 * `onRetry` repeats the question, with another minimum relevance if given; undefined when a retry
 * is not possible.
 */
type QuestionViewProps = { question: Question; onRetry: ((least?: number) => void) | undefined }

/** A broader search halves the minimum relevance. */
const BROADER_FACTOR = 0.5
/** The service's default for vendors' models. */
const DEFAULT_MIN_SCORE = 0.3

/**
 * Shows a question, its answer and the cited passages. A click on a citation jumps to its passage.
 */
export function QuestionView({ question, onRetry }: QuestionViewProps) {
  const base = useId()
  const [highlighted, setHighlighted] = useState<number | null>(null)
  const [open, setOpen] = useState(false)
  const { text, retrieval, answer, sources, nearest, citations, ending } = question
  const streaming = ending === undefined
  const broaderScore = (retrieval.min_score ?? DEFAULT_MIN_SCORE) * BROADER_FACTOR

  const count = sources?.length ?? 0
  const cite = useCallback(
    (number: number) => {
      if (number < 1 || number > count) return `[${number}]`
      const jump = () => {
        // Render now, because a folded passage cannot get the focus.
        flushSync(() => {
          setHighlighted(number)
          setOpen(true)
        })
        const passage = document.getElementById(`${base}-${number}`)
        passage?.focus({ preventScroll: true })
        passage?.scrollIntoView({ block: 'nearest' })
      }
      return (
        <button
          type="button"
          className={classes.citation}
          aria-label={`Passage ${number}`}
          onClick={jump}
        >
          {number}
        </button>
      )
    },
    [base, count],
  )

  return (
    <article className={classes.entry}>
      <Title order={2} fz="1.25rem" dir="auto" className={classes.question ?? ''}>
        {text}
      </Title>
      <div className={classes.answer}>
        <VisuallyHidden>Answer</VisuallyHidden>
        {streaming && answer === '' && <Loader size="sm" aria-label="Waiting for the answer" />}
        {answer !== '' && <Markdown text={answer} streaming={streaming} cite={cite} />}
        {ending && <UnsupportedNote answer={answer} citations={citations} />}
        {ending && <EndingNote ending={ending} begun={answer.trim() !== ''} />}
        {!streaming && (
          <Group gap={0} ml={-10}>
            {answer !== '' && <CopyIcon value={answer} what="answer" />}
            {onRetry && (
              <Tooltip label="Ask again">
                <ActionIcon onClick={() => onRetry()} aria-label="Ask again">
                  <IconRefresh size={18} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        )}
      </div>
      {sources && (
        <aside
          className={classes.sources}
          aria-label={`Passages behind “${text}”`}
          data-open={open || undefined}
        >
          <Text c="dimmed" size="sm" className={classes.count ?? ''}>
            {sources.length === 0
              ? retrieval.min_score === undefined
                ? 'No close match found'
                : `No match with relevance ${retrieval.min_score.toFixed(2)} or higher`
              : plural(sources.length, 'passage')}
          </Text>
          {sources.length > 0 && (
            <Button
              variant="default"
              className={classes.toggle ?? ''}
              onClick={() => setOpen(!open)}
              aria-expanded={open}
            >
              {open ? 'Hide' : 'Show'} {plural(sources.length, 'passage')}
            </Button>
          )}
          {sources.length === 0 && onRetry && broaderScore > 0.02 && (
            <Button variant="light" onClick={() => onRetry(broaderScore)}>
              Search more broadly
            </Button>
          )}
          {sources.length === 0 && !streaming && <NearestPassages chunks={nearest} />}
          {sources.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
            <div className={classes.passages} tabIndex={0}>
              {sources.map((chunk, index) => (
                <Passage
                  key={chunk.id}
                  chunk={chunk}
                  id={`${base}-${index + 1}`}
                  highlighted={highlighted === index + 1}
                  quotes={findQuotes(citations, index + 1)}
                  mark={
                    <span className={classes.citation} aria-hidden>
                      {index + 1}
                    </span>
                  }
                />
              ))}
            </div>
          )}
        </aside>
      )}
    </article>
  )
}
