import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { t } from '../../language/text.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import type { Reasoning as ReasoningText } from '../api.ts'
import classes from './answer.module.css'

type ReasoningProps = {
  reasoning: ReasoningText
  /** True while the model thinks. */
  isThinking: boolean
}

/** The model's reasoning, folded. Vendors show only a part of it. */
export function Reasoning({ reasoning: { text, ms }, isThinking }: ReasoningProps) {
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
