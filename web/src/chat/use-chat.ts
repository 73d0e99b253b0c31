import { useEffect, useRef, useState } from 'react'
import { newId } from '../parts/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { pacedText } from '../stream/paced-text.ts'
import { type ChatSettings, chatBody, rewritten, type Turn, upToLastQuestion } from './conversation.ts'

/** One conversation: its turns, the answer being written, and what can be done to them. `onSettled` gets the turns after each answer. */
export function useChat(start: Turn[], settings: ChatSettings, onSettled: (turns: Turn[]) => void) {
  const [turns, setTurns] = useState(start)
  const [writing, setWriting] = useState(false)
  const controller = useRef<AbortController | null>(null)

  // Leaving the page stops the answer, and with it the vendor's meter.
  useEffect(() => () => controller.current?.abort(), [])

  async function answer(history: Turn[]) {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setWriting(true)

    let draft: Turn = { id: newId(), role: 'assistant', content: '' }
    const show = (next: Turn) => {
      draft = next
      // Another answer has taken this one's place.
      if (controller.current === own) setTurns([...history, draft])
    }
    show(draft)

    const paced = pacedText((text) => show({ ...draft, content: draft.content + text }))
    const ending = await openStream('/api/ai/chat', chatBody(history, settings), {
      signal: own.signal,
      onPiece: (piece) => {
        if (piece.kind === 'token') paced.push(piece.token)
      },
    })
    paced.flush()
    show({ ...draft, ending })
    if (controller.current !== own) return
    setWriting(false)
    onSettled([...history, draft])
  }

  return {
    turns,
    writing,
    send: (content: string) => void answer([...turns, { id: newId(), role: 'user', content }]),
    retry: () => void answer(upToLastQuestion(turns)),
    edit: (id: string, content: string) => void answer(rewritten(turns, id, content)),
    stop: () => controller.current?.abort(),
  }
}
