import { type ClipboardEvent, type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { t } from '../../language/text.ts'
import listClasses from '../parts/pick-list.module.css'
import { filterOptions, type PickOption, PickRow } from '../parts/pick-list.tsx'
import classes from './composer.module.css'
import { completeMention, readMention } from './mention.ts'
import { useScopeOptions } from './scope-options.ts'

const MENTIONED_MAX = 8

type MessageFieldProps = {
  field: RefObject<HTMLTextAreaElement | null>
  text: string
  placeholder: string
  isWriting: boolean
  onChange: (text: string) => void
  onSend: () => void
  onStop: () => void
  /** ArrowUp in the empty field. */
  onUp: () => void
  onMention: (value: string) => void
  onFiles: (files: File[]) => void
}

/** Enter sends, Shift+Enter breaks the line, `@` names a document, Escape stops an answer. */
export function MessageField({ field, text, placeholder, isWriting, ...on }: MessageFieldProps) {
  const listId = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const [at, setAt] = useState(0)
  const options = useScopeOptions(typed !== null)
  const found = typed === null ? [] : filterOptions(options, typed).slice(0, MENTIONED_MAX)
  const active = found[Math.min(at, found.length - 1)]

  const follow = ({ value, selectionStart }: HTMLTextAreaElement) => {
    setTyped(readMention(value, selectionStart))
    setAt(0)
  }
  const pick = (option: PickOption) => {
    const element = field.current
    if (!element) return
    const next = completeMention(text, element.selectionStart, option.label)
    on.onChange(next.text)
    on.onMention(option.value)
    setTyped(null)
    requestAnimationFrame(() => element.setSelectionRange(next.caret, next.caret))
  }
  const onMentionKey = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) setAt((at + step + found.length) % found.length)
    else if ((event.key === 'Enter' || event.key === 'Tab') && active) pick(active)
    else if (event.key === 'Escape') setTyped(null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Input methods use these keys while they compose.
    if (event.nativeEvent.isComposing || (typed !== null && onMentionKey(event))) return
    if (event.key === 'Escape' && isWriting) {
      event.preventDefault()
      on.onStop()
    } else if (event.key === 'ArrowUp' && text === '' && !isWriting) {
      event.preventDefault()
      on.onUp()
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      on.onSend()
    }
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    on.onFiles(files)
  }

  return (
    <>
      {typed !== null && <MentionList id={listId} found={found} active={active} onPick={pick} />}
      <textarea
        ref={field}
        aria-label={t('Message')}
        aria-autocomplete="list"
        aria-controls={typed !== null && found.length > 0 ? listId : undefined}
        aria-activedescendant={active && `${listId}-${active.value}`}
        placeholder={placeholder}
        dir="auto"
        rows={1}
        className={classes.field}
        value={text}
        onChange={(event) => {
          on.onChange(event.currentTarget.value)
          follow(event.currentTarget)
        }}
        onBlur={() => setTyped(null)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </>
  )
}

type MentionListProps = {
  id: string
  found: PickOption[]
  active: PickOption | undefined
  onPick: (option: PickOption) => void
}

/** Documents and collections that match `@`. The message field keeps the focus. */
function MentionList({ id, found, active, onPick }: MentionListProps) {
  return (
    <div className={classes.mentions}>
      {found.length === 0 ? (
        <p className={listClasses.empty}>{t('No document or collection with this name')}</p>
      ) : (
        <div
          id={id}
          role="listbox"
          aria-label={t('Documents and collections')}
          className={listClasses.list}
        >
          {found.map((option) => (
            <PickRow
              key={option.value}
              id={`${id}-${option.value}`}
              option={option}
              isActive={option === active}
              isChosen={false}
              onPick={() => onPick(option)}
            />
          ))}
        </div>
      )}
    </div>
  )
}
