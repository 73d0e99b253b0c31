import { ActionIcon, Textarea } from '@mantine/core'
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react'
import { type FormEvent, type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import classes from './composer.module.css'

/** Browsers that size a field by its text. Sizing by script fails when a phone is turned. */
const GROWS = CSS.supports('field-sizing', 'content')

type ComposerProps = {
  label: string
  writing: boolean
  onSend: (text: string) => void
  onStop: () => void
  start?: string | undefined
  /**
   * Called for ArrowUp in the empty field, to edit the last message. The returned text is put into
   * the field.
   */
  onUp?: () => string | undefined
}

/**
 * Message field. Enter sends and Shift+Enter breaks the line. The button and Escape stop an
 * answer.
 */
export function Composer({ label, writing, onSend, onStop, onUp, start = '' }: ComposerProps) {
  const [text, setText] = useState(start)
  const field = useRef<HTMLTextAreaElement>(null)

  const form = useRef<HTMLFormElement>(null)

  /**
   * Focuses the form after a focused button disappears. Phones get no focused field, which would
   * open the keyboard.
   */
  const takeFocus = useCallback(() => {
    const place = matchMedia('(hover: hover)').matches ? field.current : form.current
    place?.focus({ preventScroll: true })
  }, [])

  // Focus on arrival, except below a dialog and on phones, where the keyboard would cover the page.
  useEffect(() => {
    if (!matchMedia('(hover: hover)').matches || document.querySelector('[role=dialog]')) return
    // The layout moves the focus to the page's content first.
    const frame = requestAnimationFrame(() => field.current?.focus({ preventScroll: true }))
    return () => cancelAnimationFrame(frame)
  }, [])

  // Answer again, Continue and the suggestions disappear when an answer starts.
  const wasWriting = useRef(writing)
  useEffect(() => {
    if (wasWriting.current === writing) return
    wasWriting.current = writing
    if (document.activeElement === document.body) takeFocus()
  }, [writing, takeFocus])

  // The disabled Send button replaces Stop and cannot hold the focus.
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
    // Input methods use these keys while they compose.
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
