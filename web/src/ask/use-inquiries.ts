import { useEffect, useRef, useState } from 'react'
import type { Chunk } from '../api/types.ts'
import { newId } from '../parts/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { pacedText } from '../stream/paced-text.ts'
import { type Ending, LEFT } from '../stream/stream.ts'

/** How many passages, and how near they must come (0 to 1). */
export type Reach = { top_k: number; min_score: number }

/** A question, the answer so far and the passages it stands on. `sources` is null until they have arrived. */
export type Inquiry = {
  id: string
  question: string
  reach: Reach
  answer: string
  sources: Chunk[] | null
  ending?: Ending
}

/** Questions put one after another; each carries what was said before, so that "and how long does it last?" is understood. */
export function useInquiries() {
  const [list, setList] = useState<Inquiry[]>([])
  const [writing, setWriting] = useState(false)
  const controller = useRef<AbortController | null>(null)

  useEffect(() => () => controller.current?.abort(LEFT), [])

  async function answer(before: Inquiry[], question: string, reach: Reach) {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setWriting(true)

    let inquiry: Inquiry = { id: newId(), question, reach, answer: '', sources: null }
    const show = (more: Partial<Inquiry>) => {
      inquiry = { ...inquiry, ...more }
      // Another answer has taken this one's place.
      if (controller.current === own) setList([...before, inquiry])
    }
    show({})

    const paced = pacedText((text) => show({ answer: inquiry.answer + text }))
    const ending = await openStream(
      '/api/rag/query',
      { question, ...reach, include_sources: true, chat_history: historyOf(before) },
      {
        signal: own.signal,
        onPiece: (piece) => {
          if (piece.kind === 'token') paced.push(piece.token)
          if (piece.kind === 'sources') show({ sources: piece.sources })
        },
      },
    )
    paced.flush()
    show({ ending })
    if (controller.current === own) setWriting(false)
  }

  return {
    list,
    writing,
    ask: (question: string, reach: Reach) => void answer(list, question, reach),
    retry: (id: string, reach: Reach) => {
      const at = list.findIndex((inquiry) => inquiry.id === id)
      const inquiry = list[at]
      if (inquiry) void answer(list.slice(0, at), inquiry.question, reach)
    },
    stop: () => controller.current?.abort(),
  }
}

function historyOf(before: Inquiry[]) {
  return before
    .filter(({ answer, ending }) => answer.trim() !== '' && ending?.kind === 'complete')
    .flatMap(({ question, answer }) => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ])
}
