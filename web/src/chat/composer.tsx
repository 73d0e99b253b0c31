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
  /** ArrowUp in the empty field, to edit the last message. A text that it returns is put there. */
  onUp?: () => string | undefined
}

/**
 * Where a message is written. Enter sends, Shift+Enter breaks the line; while an answer is written, the button and Escape
 * stop it.
 */
export function Composer({ label, writing, onSend, onStop, onUp, start = '' }: ComposerProps) {
  const [text, setText] = useState(start)
  const field = useRef<HTMLTextAreaElement>(null)

  const form = useRef<HTMLFormElement>(null)

  /** Where the keyboard goes when the button that had it leaves the page. On a telephone the field would bring up its keyboard. */
  const takeFocus = useCallback(() => {
    const place = matchMedia('(hover: hover)').matches ? field.current : form.current
    place?.focus({ preventScroll: true })
  }, [])

  // On arrival, unless a dialog has the keyboard. A telephone would bring up its keyboard over the page.
  useEffect(() => {
    if (!matchMedia('(hover: hover)').matches || document.querySelector('[role=dialog]')) return
    // After the layout has moved the focus to the new page's content.
    const frame = requestAnimationFrame(() => field.current?.focus({ preventScroll: true }))
    return () => cancelAnimationFrame(frame)
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
    // While an input method composes, the keys are its own.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && writing) return stop()
    if (event.key === 'ArrowUp' && onUp && text === '' && !writing) {
      event.preventDefault()
      setText(onUp() ?? '')
      return
    }
    if (event.key !== 'Enter' || event.shiftKey) return
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
        <ActionIcon
          key="stop"
          variant="filled"
          color="pine"
          radius="xl"
          onClick={stop}
          aria-label="Stop"
        >
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
