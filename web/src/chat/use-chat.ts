import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { newId } from '../components/new-id.ts'
import { openStream } from '../stream/open-stream.ts'
import { createTextPacer } from '../stream/paced-text.ts'
import { LEFT } from '../stream/stream.ts'
import {
  buildChatRequest,
  type ChatSettings,
  canContinue,
  cutAfterLastQuestion,
  rewriteQuestion,
  type Turn,
} from './conversation.ts'
import { replaceTurn, saveAnswer, updateTurns, useTurns } from './conversation-store.ts'

/**
 * One conversation with the answer in progress. A question is stored immediately, with an
 * unfinished answer that the finished one replaces. The functions are stable, so that unchanged
 * turns do not render again.
 */
export function useChat(userId: string, id: string, settings: ChatSettings) {
  const stored = useTurns(userId, id)
  const [draft, setDraft] = useState<Turn | null>(null)
  const turns = useMemo(() => (draft ? replaceTurn(stored, draft) : stored), [stored, draft])
  const controller = useRef<AbortController | null>(null)
  const latest = useRef({ stored, settings })
  useEffect(() => {
    latest.current = { stored, settings }
  })

  // Leaving the page stops the answer and its cost.
  useEffect(() => () => controller.current?.abort(LEFT), [])

  // Storage events arrive late, so another tab may have overwritten our answer with its unfinished
  // copy.
  const finished = useRef(new Map<string, Turn>())
  useEffect(() => {
    for (const turn of stored) {
      const answer = finished.current.get(turn.id)
      if (answer && isUnfinished(turn) && !isUnfinished(answer)) saveAnswer(userId, id, answer)
    }
  }, [stored, userId, id])

  /** Applies `change` to the stored conversation, then requests an answer to its last turn. */
  const answer = useCallback(
    async (change: (stored: Turn[]) => Turn[], { continuing = false } = {}) => {
      controller.current?.abort()
      const ownController = new AbortController()
      controller.current = ownController

      let history: Turn[] = []
      let started: Turn = { id: newId(), role: 'assistant', content: '' }
      updateTurns(userId, id, (stored) => {
        history = change(stored)
        started = (continuing && history.at(-1)) || started
        return continuing ? history : [...history, { ...started, ending: { kind: 'left' } }]
      })

      let { ending: _, ...written }: Turn = started
      const show = (content: string) => {
        written = { ...written, content }
        // A newer answer may have replaced this one.
        if (controller.current === ownController) setDraft(written)
      }
      show(started.content)

      const paced = createTextPacer((text) => show(written.content + text))
      const ending = await openStream(
        '/api/ai/chat',
        buildChatRequest(history, latest.current.settings, { continuing }),
        {
          signal: ownController.signal,
          onEvent: (event) => {
            if (event.kind === 'token') paced.push(event.token)
          },
        },
      )
      paced.flush()
      const answer: Turn = { ...written, ending }
      finished.current.set(answer.id, answer)
      saveAnswer(userId, id, answer)
      if (controller.current === ownController) setDraft(null)
    },
    [userId, id],
  )

  const send = useCallback(
    (content: string) =>
      void answer((stored) => [...stored, { id: newId(), role: 'user', content }]),
    [answer],
  )
  const retry = useCallback(() => void answer(cutAfterLastQuestion), [answer])
  const continueAnswer = useCallback(() => {
    if (canContinue(latest.current.stored)) void answer((stored) => stored, { continuing: true })
  }, [answer])
  const edit = useCallback(
    (turnId: string, content: string) =>
      void answer((stored) => rewriteQuestion(stored, turnId, content)),
    [answer],
  )
  const stop = useCallback(() => controller.current?.abort(), [])

  return { turns, writing: draft !== null, send, retry, continueAnswer, edit, stop }
}

/** Returns whether a turn is the placeholder stored before an answer has text. */
function isUnfinished({ content, ending }: Turn): boolean {
  return content === '' && ending?.kind === 'left'
}
