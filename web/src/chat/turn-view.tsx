import {
  ActionIcon,
  Button,
  Group,
  Loader,
  Text,
  Textarea,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core'
import { IconPencil, IconRefresh } from '@tabler/icons-react'
import { type FormEvent, memo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { CopyIcon } from '../components/copy.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import type { Turn } from './conversation.ts'
import { EndingNote } from './ending-note.tsx'
import classes from './turn-view.module.css'

type TurnViewProps = {
  turn: Turn
  last: boolean
  /** Labels of other providers, suggested after a failure. */
  others: string[]
  /** The question is in its edit form. */
  editing: boolean
  onRetry: () => void
  onContinue: () => void
  onEdit: (id: string, content: string) => void
  onEditing: (id: string | null) => void
}

/** Memoized, because a growing answer would render every turn of a long conversation. */
export const TurnView = memo(function TurnView({
  turn,
  last,
  others,
  onRetry,
  onContinue,
  ...edits
}: TurnViewProps) {
  return turn.role === 'user' ? (
    <Question turn={turn} {...edits} />
  ) : (
    <Answer turn={turn} last={last} others={others} onRetry={onRetry} onContinue={onContinue} />
  )
})

type QuestionProps = Pick<TurnViewProps, 'turn' | 'editing' | 'onEdit' | 'onEditing'>

function Question({ turn, editing, onEdit, onEditing }: QuestionProps) {
  const pencil = useRef<HTMLButtonElement>(null)
  if (editing) {
    return (
      <QuestionForm
        content={turn.content}
        onSave={(content) => {
          if (content) onEdit(turn.id, content)
          onEditing(null)
        }}
        onCancel={() => {
          flushSync(() => onEditing(null))
          pencil.current?.focus()
        }}
      />
    )
  }
  return (
    <article className={classes.question}>
      <VisuallyHidden component="h2">Question</VisuallyHidden>
      <div className={classes.bubble} dir="auto">
        {turn.content}
      </div>
      <Group gap={0} className={classes.tools ?? ''}>
        <CopyIcon value={turn.content} what="message" />
        <Tooltip label="Edit and send again">
          <ActionIcon
            ref={pencil}
            onClick={() => onEditing(turn.id)}
            aria-label="Edit and send again"
          >
            <IconPencil size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </article>
  )
}

type QuestionFormProps = {
  content: string
  onSave: (content: string) => void
  onCancel: () => void
}

function QuestionForm({ content, onSave, onCancel }: QuestionFormProps) {
  const [draft, setDraft] = useState(content)
  const save = (event: FormEvent) => {
    event.preventDefault()
    onSave(draft.trim())
  }
  return (
    <form onSubmit={save} className={classes.editing}>
      <Textarea
        aria-label="Edit your message"
        autosize
        maxRows={12}
        autoFocus
        value={draft}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      <Text c="dimmed" size="sm" mt={6}>
        Sending replaces everything after this message.
      </Text>
      <Group justify="flex-end" mt={6}>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit">Send again</Button>
      </Group>
    </form>
  )
}

function Answer({
  turn,
  last,
  others,
  onRetry,
  onContinue,
}: Omit<TurnViewProps, keyof Omit<QuestionProps, 'turn'>>) {
  const streaming = turn.ending === undefined
  const begun = turn.content.trim() !== ''
  return (
    <article className={classes.answer}>
      <VisuallyHidden component="h2">Answer</VisuallyHidden>
      {streaming && turn.content === '' && <Loader size="sm" aria-label="Waiting for the answer" />}
      {turn.content !== '' && <Markdown text={turn.content} streaming={streaming} />}
      {turn.ending && (
        <EndingNote
          ending={turn.ending}
          begun={begun}
          others={others}
          onContinue={last && begun ? onContinue : undefined}
        />
      )}
      {!streaming && (
        <Group gap={0} className={classes.tools ?? ''}>
          {turn.content !== '' && <CopyIcon value={turn.content} what="answer" />}
          {last && (
            <Tooltip label="Answer again">
              <ActionIcon onClick={onRetry} aria-label="Answer again">
                <IconRefresh size={18} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      )}
    </article>
  )
}
