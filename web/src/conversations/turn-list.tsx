import { startTransition, useEffect, useMemo, useState } from 'react'
import type { Message } from './api.ts'
import type { ComposerOptions } from './composer/composer.tsx'
import { useLiveState } from './live/live-answers.ts'
import { composeTurns } from './live/turns.ts'
import { useStable } from './parts/use-stable.ts'
import type { Thread } from './thread.ts'
import { Answer } from './turns/answer.tsx'
import { Question } from './turns/question.tsx'

type TurnListProps = {
  thread: Thread
  options: ComposerOptions
  editing: string | null
  onEditing: (id: string | null) => void
  onOpenSource: (answerId: string, place: string) => void
}

const CONTINUE = 'Continue exactly where you stopped.'

export function TurnList({ thread, options, editing, onEditing, onOpenSource }: TurnListProps) {
  const { messages, live } = thread
  // Tokens do not render the list: only these values do.
  const answerId = useLiveState(live, (state) => state.answerId)
  const outcome = useLiveState(live, (state) => state.outcome)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the turns change with the answer’s id and ending.
  const turns = useMemo(() => composeTurns(messages, live), [messages, live, answerId, outcome])
  const isWriting = outcome === 'running'
  const shown = useTurnsShown(turns.length)

  const ask = (model?: string) => ({
    model: model ?? options.model,
    documents: options.scope.documents,
    collections: options.scope.collections,
  })
  const retry = useStable((answer: Message, model?: string) => {
    // The service has not stored a question that it rejected.
    if (live !== null && live.state.answerId === null && model === undefined) live.again()
    else thread.retry(answer, ask(model))
  })
  const edit = useStable((question: Message, parts: Message['parts']) =>
    thread.edit(question, { parts, ...ask() }),
  )
  const choose = useStable(thread.choose)
  const goOn = useStable(() => thread.ask({ parts: [{ type: 'text', text: CONTINUE }], ...ask() }))
  const openSource = useStable(onOpenSource)

  return turns
    .slice(-shown)
    .map(({ key, message, live: own }) =>
      message.role === 'user' ? (
        <Question
          key={key}
          message={message}
          isEditing={message.id === editing}
          isLocked={isWriting}
          onEdit={edit}
          onEditing={onEditing}
          onChoose={choose}
        />
      ) : (
        <Answer
          key={key}
          message={message}
          live={own}
          isLast={message === turns.at(-1)?.message}
          isLocked={isWriting}
          onRetry={retry}
          onContinue={goOn}
          onChoose={choose}
          onOpenSource={openSource}
        />
      ),
    )
}

const FIRST = 8
const STEP = 6
const PAUSE_MS = 30

/**
 * Returns how many of the last turns to render. A long conversation opens with its end; earlier
 * turns follow in small steps, so that the page stays responsive.
 */
function useTurnsShown(turns: number): number {
  const [shown, setShown] = useState(FIRST)
  useEffect(() => {
    if (shown >= turns) return
    const timer = setTimeout(() => startTransition(() => setShown((n) => n + STEP)), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [shown, turns])
  return shown
}
