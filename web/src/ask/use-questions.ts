import { useEffect, useMemo, useRef, useState } from 'react'
import type { Chunk, Citation, QueryDocumentsRequest } from '../api/types.ts'
import { createBrowserList } from '../components/browser-list.ts'
import { newId } from '../components/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { createTextPacer } from '../stream/paced-text.ts'
import { type Ending, LEFT } from '../stream/stream.ts'

/** How many passages, how near they must come (0 to 1; left out, the service decides), and which model answers; none: the usual one. */
export type RetrievalOptions = { top_k: number; min_score?: number; model?: string }

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

/** Newest first. Kept in the browser, so that an answer survives a click on its source and a reload. */
const storedQuestions = createBrowserList<Question>('questions', 20)

/** Questions put one after another; each carries what was said before, so that "and how long does it last?" is understood. */
export function useQuestions(userId: string) {
  const stored = storedQuestions.use(userId)
  const [draft, setDraft] = useState<Question | null>(null)
  const list = useMemo(() => {
    const shown = draft
      ? stored.map((question) => (question.id === draft.id ? draft : question))
      : stored
    return shown.toReversed()
  }, [stored, draft])
  const controller = useRef<AbortController | null>(null)

  useEffect(() => () => controller.current?.abort(LEFT), [])

  /** Asks a question in place of the one with the id `replaced`. */
  async function answer(text: string, retrieval: RetrievalOptions, replaced?: string) {
    controller.current?.abort()
    const ownController = new AbortController()
    controller.current = ownController

    let question: Question = {
      id: newId(),
      text,
      retrieval,
      answer: '',
      sources: null,
      nearest: [],
      citations: [],
    }
    let before: Question[] = []
    storedQuestions.update(userId, (stored) => {
      before = stored.filter(({ id }) => id !== replaced)
      return [{ ...question, ending: { kind: 'left' } }, ...before]
    })
    const show = (more: Partial<Question>) => {
      question = { ...question, ...more }
      // Another answer has taken this one's place.
      if (controller.current === ownController) setDraft(question)
    }
    show({})

    const paced = createTextPacer((more) => show({ answer: question.answer + more }))
    const ending = await openStream(
      '/api/rag/query',
      {
        question: text,
        min_score: null,
        ...retrieval,
        include_sources: true,
        chat_history: buildHistory(before.toReversed()),
      },
      {
        signal: ownController.signal,
        onEvent: (event) => {
          if (event.kind === 'token') paced.push(event.token)
          if (event.kind === 'sources') show({ sources: event.sources, nearest: event.nearest })
          if (event.kind === 'citations') show({ citations: event.citations })
        },
      },
    )
    paced.flush()
    const answered: Question = { ...question, ending }
    // Changes nothing when the question was deleted meanwhile.
    storedQuestions.update(userId, (stored) =>
      stored.map((one) => (one.id === answered.id ? answered : one)),
    )
    if (controller.current === ownController) setDraft(null)
  }

  return {
    list,
    writing: draft !== null,
    ask: (text: string, retrieval: RetrievalOptions) => void answer(text, retrieval),
    retry: ({ id, text }: Question, retrieval: RetrievalOptions) =>
      void answer(text, retrieval, id),
    stop: () => controller.current?.abort(),
    /** Deletes all questions with their answers. */
    clear: () => {
      controller.current?.abort()
      storedQuestions.update(userId, () => [])
    },
  }
}

function buildHistory(before: Question[]): QueryDocumentsRequest['chat_history'] {
  return before
    .filter(({ answer, ending }) => answer.trim() !== '' && ending?.kind === 'complete')
    .flatMap(({ text, answer }) => [
      { role: 'user', content: text },
      { role: 'assistant', content: answer },
    ])
}
