import { type KeyboardEvent, useRef, useState } from 'react'
import { t } from '../language/text.ts'
import classes from './rename-field.module.css'

type RenameFieldProps = { title: string; onSave: (title: string) => void; onCancel: () => void }

/** Enter and leaving the field save; Escape cancels. */
export function RenameField({ title, onSave, onCancel }: RenameFieldProps) {
  const [draft, setDraft] = useState(title)
  const isDone = useRef(false)
  const end = (save: boolean) => {
    if (isDone.current) return
    isDone.current = true
    if (save && draft.trim() !== '') onSave(draft.trim())
    else onCancel()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key !== 'Enter' && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    end(event.key === 'Enter')
  }
  return (
    <input
      className={classes.field}
      aria-label={t('Title')}
      // biome-ignore lint/a11y/noAutofocus: the reader has just chosen to rename.
      autoFocus
      maxLength={200}
      dir="auto"
      value={draft}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={() => end(true)}
      onKeyDown={onKeyDown}
    />
  )
}
