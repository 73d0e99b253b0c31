import { useEffect, useRef, useState } from 'react'
import type { Chunk, Citation, QueryDocumentsRequest } from '../api/types.ts'
import { newId } from '../components/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { pacedText } from '../stream/paced-text.ts'
import { type Ending, LEFT } from '../stream/stream.ts'

/** How many passages, how near they must come (0 to 1), and which model answers; none: the usual one. */
export type RetrievalOptions = Required<Pick<QueryDocumentsRequest, 'top_k' | 'min_score'>> & { model?: string }

/** A question, the answer so far and the passages it stands on. `sources` is null until they have arrived. */
export type Question = {
  id: string
  text: string
  retrieval: RetrievalOptions
  answer: string
  sources: Chunk[] | null
  /** What came nearest where nothing was near enough. */
  nearest: Chunk[]
  citations: Citation[]
  ending?: Ending
}

/** Questions put one after another; each carries what was said before, so that "and how long does it last?" is understood. */
export function useQuestions() {
  const [list, setList] = useState<Question[]>([])
  const [writing, setWriting] = useState(false)
  const controller = useRef<AbortController | null>(null)

  useEffect(() => () => controller.current?.abort(LEFT), [])

  async function answer(before: Question[], text: string, retrieval: RetrievalOptions) {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setWriting(true)

    let question: Question = { id: newId(), text, retrieval, answer: '', sources: null, nearest: [], citations: [] }
    const show = (more: Partial<Question>) => {
      question = { ...question, ...more }
      // Another answer has taken this one's place.
      if (controller.current === own) setList([...before, question])
    }
    show({})

    const paced = pacedText((more) => show({ answer: question.answer + more }))
    const ending = await openStream(
      '/api/rag/query',
      { question: text, ...retrieval, include_sources: true, chat_history: historyOf(before) },
      {
        signal: own.signal,
        onEvent: (event) => {
          if (event.kind === 'token') paced.push(event.token)
          if (event.kind === 'sources') show({ sources: event.sources, nearest: event.nearest })
          if (event.kind === 'citations') show({ citations: event.citations })
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
    ask: (text: string, retrieval: RetrievalOptions) => void answer(list, text, retrieval),
    retry: (id: string, retrieval: RetrievalOptions) => {
      const at = list.findIndex((question) => question.id === id)
      const question = list[at]
      if (question) void answer(list.slice(0, at), question.text, retrieval)
    },
    stop: () => controller.current?.abort(),
  }
}

function historyOf(before: Question[]): QueryDocumentsRequest['chat_history'] {
  return before
    .filter(({ answer, ending }) => answer.trim() !== '' && ending?.kind === 'complete')
    .flatMap(({ text, answer }) => [
      { role: 'user', content: text },
      { role: 'assistant', content: answer },
    ])
}
