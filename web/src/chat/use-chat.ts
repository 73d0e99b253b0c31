import { useCallback, useEffect, useRef, useState } from 'react'
import { newId } from '../components/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { pacedText } from '../stream/paced-text.ts'
import { LEFT } from '../stream/stream.ts'
import { type ChatSettings, canContinue, chatBody, rewritten, type Turn, upToLastQuestion } from './conversation.ts'

type ChatEvents = { onAsked: (turns: Turn[]) => void; onSettled: (turns: Turn[]) => void }

/**
 * One conversation: its turns, the answer being written, and what can be done to them. `onAsked` gets the turns with each new
 * question, and with an answer that broke off, as it is for who comes back without having seen its end; `onSettled` those after
 * each answer. What it returns keeps its identity while an answer grows, so that turns that do not change are not drawn again.
 */
export function useChat(start: Turn[], settings: ChatSettings, events: ChatEvents) {
  const [turns, setTurns] = useState(start)
  const [writing, setWriting] = useState(false)
  const controller = useRef<AbortController | null>(null)
  const latest = useRef({ turns, settings, events })
  useEffect(() => {
    latest.current = { turns, settings, events }
  })

  // Leaving the page stops the answer, and with it what the vendor charges.
  useEffect(() => () => controller.current?.abort(LEFT), [])

  /** Writes a new answer behind `history`, or continues its last turn. */
  const answer = useCallback(async (history: Turn[], { continuing = false } = {}) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setWriting(true)

    const before = continuing ? history.slice(0, -1) : history
    const last = continuing ? history.at(-1) : undefined
    let draft: Turn = { id: last?.id ?? newId(), role: 'assistant', content: last?.content ?? '' }
    const show = (next: Turn) => {
      draft = next
      // Another answer has taken this one's place.
      if (controller.current === own) setTurns([...before, draft])
    }
    show(draft)

    const paced = pacedText((text) => show({ ...draft, content: draft.content + text }))
    const ending = await openStream('/api/ai/chat', chatBody(history, latest.current.settings, { continuing }), {
      signal: own.signal,
      onEvent: (event) => {
        if (event.kind === 'token') paced.push(event.token)
      },
    })
    paced.flush()
    show({ ...draft, ending })
    if (controller.current !== own) return
    setWriting(false)
    latest.current.events.onSettled([...before, draft])
  }, [])

  const send = useCallback(
    (content: string) => {
      const turns: Turn[] = [...latest.current.turns, { id: newId(), role: 'user', content }]
      latest.current.events.onAsked([
        ...turns,
        { id: newId(), role: 'assistant', content: '', ending: { kind: 'left' } },
      ])
      void answer(turns)
    },
    [answer],
  )
  const retry = useCallback(() => void answer(upToLastQuestion(latest.current.turns)), [answer])
  const continueAnswer = useCallback(() => {
    if (canContinue(latest.current.turns)) void answer(latest.current.turns, { continuing: true })
  }, [answer])
  const edit = useCallback(
    (id: string, content: string) => void answer(rewritten(latest.current.turns, id, content)),
    [answer],
  )
  const stop = useCallback(() => controller.current?.abort(), [])

  return { turns, writing, send, retry, continueAnswer, edit, stop }
}
