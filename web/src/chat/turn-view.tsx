import { ActionIcon, Button, Group, Loader, Text, Textarea, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconPencil, IconRefresh } from '@tabler/icons-react'
import { type FormEvent, memo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { CopyIcon } from '../components/copy.tsx'
import { Markdown } from '../components/markdown.tsx'
import type { Turn } from './conversation.ts'
import { EndingNote } from './ending-note.tsx'
import classes from './turn-view.module.css'

type TurnViewProps = {
  turn: Turn
  last: boolean
  /** What else could have answered, for who was failed by this model. */
  others: string[]
  onRetry: () => void
  onContinue: () => void
  onEdit: (id: string, content: string) => void
}

/** Drawn again only when its own turn has changed: the others of a long conversation stand still while an answer grows. */
export const TurnView = memo(function TurnView({ turn, last, others, onRetry, onContinue, onEdit }: TurnViewProps) {
  return turn.role === 'user' ? (
    <Question turn={turn} onEdit={onEdit} />
  ) : (
    <Answer turn={turn} last={last} others={others} onRetry={onRetry} onContinue={onContinue} />
  )
})

function Question({ turn, onEdit }: Pick<TurnViewProps, 'turn' | 'onEdit'>) {
  const [draft, setDraft] = useState<string | null>(null)
  const pencil = useRef<HTMLButtonElement>(null)
  const cancel = () => {
    flushSync(() => setDraft(null))
    pencil.current?.focus()
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (draft?.trim()) onEdit(turn.id, draft.trim())
    setDraft(null)
  }

  if (draft !== null) {
    return (
      <form onSubmit={save} className={classes.editing}>
        <Textarea
          aria-label="Edit your message"
          autosize
          maxRows={12}
          autoFocus
          value={draft}
          onChange={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && cancel()}
        />
        <Text c="dimmed" size="sm" mt={6}>
          What came after this message is replaced.
        </Text>
        <Group justify="flex-end" mt={6}>
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit">Send again</Button>
        </Group>
      </form>
    )
  }
  return (
    <article className={classes.question}>
      <VisuallyHidden component="h2">You said</VisuallyHidden>
      <div className={classes.bubble} dir="auto">
        {turn.content}
      </div>
      <Group gap={0} className={classes.tools ?? ''}>
        <CopyIcon value={turn.content} what="message" />
        <Tooltip label="Edit and send again">
          <ActionIcon ref={pencil} onClick={() => setDraft(turn.content)} aria-label="Edit and send again">
            <IconPencil size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </article>
  )
}

function Answer({ turn, last, others, onRetry, onContinue }: Omit<TurnViewProps, 'onEdit'>) {
  const streaming = turn.ending === undefined
  const begun = turn.content.trim() !== ''
  return (
    <article className={classes.answer}>
      <VisuallyHidden component="h2">The model said</VisuallyHidden>
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
