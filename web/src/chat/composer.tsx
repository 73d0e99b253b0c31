import { ActionIcon, Textarea } from '@mantine/core'
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import classes from './composer.module.css'

type ComposerProps = {
  label: string
  writing: boolean
  onSend: (text: string) => void
  onStop: () => void
  start?: string | undefined
}

/** Where a message is written. Enter sends, Shift+Enter breaks the line; while an answer is written, the button stops it. */
export function Composer({ label, writing, onSend, onStop, start = '' }: ComposerProps) {
  const [text, setText] = useState(start)
  const field = useRef<HTMLTextAreaElement>(null)

  // The button that was pressed (Stop, Answer again, a suggestion) has left the page, and the keyboard's place with it.
  const wasWriting = useRef(writing)
  useEffect(() => {
    if (wasWriting.current === writing) return
    wasWriting.current = writing
    if (document.activeElement === document.body && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [writing])

  const send = (event?: FormEvent) => {
    event?.preventDefault()
    if (writing || !text.trim()) return
    onSend(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter takes its suggestion.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }

  return (
    <form className={classes.box} onSubmit={send}>
      <Textarea
        ref={field}
        aria-label={label}
        placeholder={`${label}…`}
        variant="unstyled"
        autosize
        minRows={1}
        maxRows={8}
        flex={1}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        classNames={{ input: classes.input ?? '' }}
      />
      {writing ? (
        <ActionIcon variant="filled" color="pine" radius="xl" onClick={onStop} aria-label="Stop">
          <IconPlayerStopFilled size={18} aria-hidden />
        </ActionIcon>
      ) : (
        <ActionIcon type="submit" variant="filled" color="pine" radius="xl" disabled={!text.trim()} aria-label="Send">
          <IconArrowUp size={20} aria-hidden />
        </ActionIcon>
      )}
    </form>
  )
}
