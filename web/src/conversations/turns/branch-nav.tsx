import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { t } from '../../language/text.ts'
import type { Message } from '../api.ts'
import { IconButton } from '../parts/icon-button.tsx'
import classes from './answer.module.css'

type BranchNavProps = {
  message: Message
  what: 'answer' | 'question'
  onChoose: (id: string) => void
}

/** `‹ 2/3 ›`: switches between answers to one question, or between its edits. */
export function BranchNav({ message: { id, sibling_ids }, what, onChoose }: BranchNavProps) {
  const at = sibling_ids.indexOf(id)
  if (sibling_ids.length < 2 || at < 0) return null
  const [before, after] = [sibling_ids[at - 1], sibling_ids[at + 1]]
  return (
    <span className={classes.branches}>
      <IconButton
        label={t('Previous {0}', what)}
        disabled={before === undefined}
        onClick={() => before !== undefined && onChoose(before)}
      >
        <IconChevronLeft size={17} aria-hidden />
      </IconButton>
      <span aria-live="polite">
        {at + 1}/{sibling_ids.length}
      </span>
      <IconButton
        label={t('Next {0}', what)}
        disabled={after === undefined}
        onClick={() => after !== undefined && onChoose(after)}
      >
        <IconChevronRight size={17} aria-hidden />
      </IconButton>
    </span>
  )
}
