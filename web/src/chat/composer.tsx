import { ActionIcon, Textarea } from '@mantine/core'
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react'
import { type FormEvent, type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import classes from './composer.module.css'

/** The browser can size a field by its text. Measured by script, it can come out eight lines high when a telephone is turned. */
const GROWS = CSS.supports('field-sizing', 'content')

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

  const form = useRef<HTMLFormElement>(null)

  /** Where the keyboard goes when the button that had it leaves the page. On a telephone the field would bring up its keyboard. */
  const takeFocus = useCallback(() => {
    const place = matchMedia('(hover: hover)').matches ? field.current : form.current
    place?.focus({ preventScroll: true })
  }, [])

  // Answer again, Continue and the suggestions leave the page when an answer begins.
  const wasWriting = useRef(writing)
  useEffect(() => {
    if (wasWriting.current === writing) return
    wasWriting.current = writing
    if (document.activeElement === document.body) takeFocus()
  }, [writing, takeFocus])

  // Stop is pressed before it goes; what stands in its place then is disabled and could not keep the keyboard.
  const stop = () => {
    takeFocus()
    onStop()
  }

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
    <form className={classes.box} onSubmit={send} ref={form} tabIndex={-1}>
      <Textarea
        ref={field}
        aria-label={label}
        placeholder={`${label}…`}
        variant="unstyled"
        autosize={!GROWS}
        rows={1}
        minRows={1}
        maxRows={8}
        flex={1}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        classNames={{ input: classes.input ?? '' }}
      />
      {writing ? (
        <ActionIcon key="stop" variant="filled" color="pine" radius="xl" onClick={stop} aria-label="Stop">
          <IconPlayerStopFilled size={18} aria-hidden />
        </ActionIcon>
      ) : (
        <ActionIcon
          key="send"
          type="submit"
          variant="filled"
          color="pine"
          radius="xl"
          disabled={!text.trim()}
          aria-label="Send"
        >
          <IconArrowUp size={20} aria-hidden />
        </ActionIcon>
      )}
    </form>
  )
}
