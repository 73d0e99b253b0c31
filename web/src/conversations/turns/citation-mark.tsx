import { use, useState } from 'react'
import { t } from '../../language/text.ts'
import { nameSource } from '../live/turns.ts'
import { AnswerContext } from './answer-context.ts'
import classes from './citation-mark.module.css'
import { PEEK_ID, usePeek } from './peek.tsx'

type CitationMarkProps = { number: number; ordinal: number }

/** A citation in an answer. Hover shows the sentence; click opens it in its document. */
export function CitationMark({ number, ordinal }: CitationMarkProps) {
  const answer = use(AnswerContext)
  const peek = usePeek()
  const [isPeeked, setIsPeeked] = useState(false)
  const source = answer?.sources[number - 1]
  if (!answer || !source) return <>[{number}]</>

  const show = (mark: HTMLElement) => {
    const cited = answer.resolve(ordinal)
    if (cited === null) return
    setIsPeeked(true)
    peek.show(cited, mark.getBoundingClientRect())
  }
  const hide = () => {
    setIsPeeked(false)
    peek.hide()
  }
  return (
    <button
      type="button"
      className={classes.mark}
      data-ordinal={ordinal}
      aria-label={t('Source {0}: {1}', number, nameSource(source))}
      aria-describedby={isPeeked ? PEEK_ID : undefined}
      onMouseEnter={(event) => show(event.currentTarget)}
      onMouseLeave={hide}
      onFocus={(event) =>
        event.currentTarget.matches(':focus-visible') && show(event.currentTarget)
      }
      onBlur={hide}
      onClick={() => {
        hide()
        answer.open(ordinal)
      }}
    >
      {number}
    </button>
  )
}

/** Stable, so that finished blocks of a growing answer do not render again. */
export const renderCitation = (number: number, ordinal: number) => (
  <CitationMark number={number} ordinal={ordinal} />
)
