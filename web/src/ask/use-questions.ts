import { useEffect, useMemo, useRef, useState } from 'react'
import type { Chunk, Citation, QueryDocumentsRequest } from '../api/types.ts'
import { createBrowserList } from '../components/browser-list.ts'
import { newId } from '../components/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { createTextPacer } from '../stream/paced-text.ts'
import { type Ending, LEFT } from '../stream/stream.ts'

/** `min_score` is 0 to 1. The service chooses missing values. */
export type RetrievalOptions = { top_k: number; min_score?: number; model?: string }

/** A question with its answer so far. `sources` is null until they arrive. */
export type Question = {
  id: string
  text: string
  retrieval: RetrievalOptions
  answer: string
  sources: Chunk[] | null
  /** Closest passages when there are no sources. */
  nearest: Chunk[]
  citations: Citation[]
  ending?: Ending
}

/** Newest first. Stored in the browser, so that answers survive navigation and a reload. */
const storedQuestions = createBrowserList<Question>('questions', 20)

/** Each question is sent with the earlier ones, so that "and how long does it last?" works. */
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

  /** Replaces the question with the id `replaced`, if given. */
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
      // A newer answer may have replaced this one.
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
    // No effect when the question was deleted meanwhile.
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
