import { IconFileText, IconPencil } from '@tabler/icons-react'
import { type FormEvent, type KeyboardEvent, memo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { t } from '../../language/text.ts'
import type { Message, Part } from '../api.ts'
import { readText } from '../live/turns.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { BranchNav } from './branch-nav.tsx'
import { CopyButton } from './copy-button.tsx'
import classes from './question.module.css'

export type QuestionActions = {
  onEdit: (question: Message, parts: Part[]) => void
  onEditing: (id: string | null) => void
  onChoose: (id: string) => void
}

type QuestionProps = { message: Message; isEditing: boolean; isLocked: boolean } & QuestionActions

export const Question = memo(function Question({
  message,
  isEditing,
  isLocked,
  onEdit,
  onEditing,
  onChoose,
}: QuestionProps) {
  const pencil = useRef<HTMLButtonElement>(null)
  const text = readText(message)
  if (isEditing) {
    return (
      <EditForm
        text={text}
        onSave={(next) => {
          onEditing(null)
          const others = message.parts.filter(({ type }) => type !== 'text')
          onEdit(message, [...others, { type: 'text', text: next }])
        }}
        onCancel={() => {
          flushSync(() => onEditing(null))
          pencil.current?.focus()
        }}
      />
    )
  }
  return (
    <article className={classes.question} data-message={message.id}>
      <h2 className="visually-hidden">{t('Question')}</h2>
      <Attached parts={message.parts} />
      {text !== '' && (
        <div className={classes.bubble} dir="auto">
          {text}
        </div>
      )}
      <div className={classes.tools}>
        <BranchNav message={message} what="question" onChoose={onChoose} />
        <CopyButton label={t('Copy question')} read={() => text} />
        <IconButton
          ref={pencil}
          label={t('Edit question')}
          disabled={isLocked}
          onClick={() => onEditing(message.id)}
        >
          <IconPencil size={17} aria-hidden />
        </IconButton>
      </div>
    </article>
  )
})

function Attached({ parts }: { parts: Part[] }) {
  const attached = parts.filter((part) => part.type !== 'text')
  if (attached.length === 0) return null
  return (
    <ul className={classes.attached} aria-label={t('Attachments')}>
      {attached.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question does not change.
        <li key={index}>
          {part.type === 'image' ? (
            <img src={`data:${part.media_type};base64,${part.data}`} alt={t('Attached')} />
          ) : (
            <span className={classes.document}>
              <IconFileText size={17} aria-hidden />
              {part.name}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

type EditFormProps = { text: string; onSave: (text: string) => void; onCancel: () => void }

function EditForm({ text, onSave, onCancel }: EditFormProps) {
  const [draft, setDraft] = useState(text)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (draft.trim() !== '') onSave(draft.trim())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onCancel()
    } else if (event.key === 'Enter' && !event.shiftKey) save(event as unknown as FormEvent)
  }
  return (
    <form onSubmit={save} className={classes.editing}>
      <textarea
        aria-label={t('Edit your question')}
        // biome-ignore lint/a11y/noAutofocus: the reader has just chosen to edit.
        autoFocus
        dir="auto"
        value={draft}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div className={classes.editTools}>
        <span>{t('The earlier question stays available.')}</span>
        <button type="button" onClick={onCancel}>
          {t('Cancel')}
        </button>
        <button type="submit" data-primary disabled={draft.trim() === ''}>
          {t('Send')}
        </button>
      </div>
    </form>
  )
}
