import { useSyncExternalStore } from 'react'
import { newId } from '../../components/new-id.ts'
import { LiveAnswer, type LiveState, type OpenEvents } from './live-answer.ts'

type Following = {
  start: ConstructorParameters<typeof LiveAnswer>[0]
  open: OpenEvents
  /** Runs when the service has stored the question. */
  onBegin?: () => void
  /** Runs when the answer has ended, unless another one has replaced it. */
  onEnd: (state: LiveState) => void
}

/** The answers in progress of this tab, one per conversation. They outlive the page that began them. */
class LiveAnswers {
  readonly #byConversation = new Map<string, LiveAnswer>()
  readonly #keys = new Map<string, string>()
  readonly #listeners = new Set<() => void>()

  /** Follows an answer, in place of an ended one. */
  start(conversationId: string, following: Following): void {
    this.#byConversation.get(conversationId)?.abort()
    const { start, open, onEnd } = following
    // A request that is sent again gets a new key.
    const live = new LiveAnswer(start, open, () =>
      this.start(conversationId, { ...following, start: { ...start, key: newId() } }),
    )
    this.#byConversation.set(conversationId, live)
    this.#notify()
    let hasBegun = live.state.answerId !== null
    const unsubscribe = live.subscribe(() => {
      this.#nameMessages(live.state)
      if (hasBegun || live.state.answerId === null) return
      hasBegun = true
      following.onBegin?.()
    })
    void live.follow().then(() => {
      unsubscribe()
      if (this.#byConversation.get(conversationId) === live) onEnd(live.state)
    })
  }

  #nameMessages({ key, question, questionId, answerId }: LiveState): void {
    if (question !== null && questionId !== null) this.#keys.set(questionId, `${key} question`)
    if (answerId !== null) this.#keys.set(answerId, `${key} answer`)
  }

  find(conversationId: string): LiveAnswer | null {
    return this.#byConversation.get(conversationId) ?? null
  }

  /** Stops following, and forgets the answer. */
  drop(conversationId: string): void {
    const live = this.#byConversation.get(conversationId)
    if (live === undefined) return
    this.#byConversation.delete(conversationId)
    live.abort()
    this.#notify()
  }

  /** Returns the key of a message for React. It stays the same when a live answer becomes stored. */
  findKey(messageId: string): string {
    return this.#keys.get(messageId) ?? messageId
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

export const liveAnswers = new LiveAnswers()

export function useLiveAnswer(conversationId: string): LiveAnswer | null {
  return useSyncExternalStore(liveAnswers.subscribe, () => liveAnswers.find(conversationId))
}

const ignore = () => () => undefined

/** Renders again only when the selected value changes, not for every token. */
export function useLiveState<T>(
  live: LiveAnswer | null,
  select: (state: LiveState) => T,
): T | null {
  return useSyncExternalStore(live?.subscribe ?? ignore, () =>
    live === null ? null : select(live.state),
  )
}
