import { useMemo } from 'react'
import { request } from '../../api/client.ts'
import { newId } from '../../components/new-id.ts'
import type { Message } from '../api.ts'
import type { LiveState, OpenEvents } from '../live/live-answer.ts'
import { liveAnswers, useLiveAnswer, useLiveState } from '../live/live-answers.ts'
import { createAnswer, createMessage, isStored } from '../live/turns.ts'
import type { Ask, AskOptions, Thread } from '../thread.ts'
import { buildTitle, changeConversation, type LocalStore } from './local-conversations.ts'
import { findLeaf, type LocalMessage, readBranch } from './tree.ts'

const NOTHING: LocalMessage[] = []

/** A conversation that only this page or this browser keeps. Its answers end with the page. */
export function useLocalThread(store: LocalStore, userId: string, id: string): Thread {
  const stored = store.use(userId).find((one) => one.id === id)
  const messages = stored?.messages ?? NOTHING
  const branch = useMemo(
    () => readBranch(messages, stored?.leaf_id ?? null),
    [messages, stored?.leaf_id],
  )
  const found = useLiveAnswer(id)
  const isLiveStored = useLiveState(found, (state) => isStored(branch, state))
  const live = isLiveStored ? null : found
  const actions = useMemo(() => createActions({ store, userId, id }), [store, userId, id])
  return {
    id,
    messages: branch,
    live,
    hasEarlier: false,
    loadEarlier: () => undefined,
    ...actions,
  }
}

type Place = { store: LocalStore; userId: string; id: string }

function createActions(place: Place) {
  return {
    ask: ({ parts, ...options }: Ask) =>
      answer(place, addQuestion(place, readLeaf(place), parts), options),
    retry: ({ parent_id }: Message, options: AskOptions) =>
      parent_id !== null && answer(place, parent_id, options),
    edit: ({ parent_id }: Message, { parts, ...options }: Ask) =>
      answer(place, addQuestion(place, parent_id, parts), options),
    choose: (messageId: string) =>
      changeConversation(place.store, place.userId, place.id, ({ messages, updated_at }) => ({
        leaf_id: findLeaf(messages, messageId),
        updated_at,
      })),
    stop: () => liveAnswers.find(place.id)?.abort(),
  }
}

function readConversation({ store, userId, id }: Place) {
  return store.read(userId).find((one) => one.id === id)
}

const readLeaf = (place: Place) => readConversation(place)?.leaf_id ?? null

/** Stores a question and returns its id. */
function addQuestion(place: Place, parent_id: string | null, parts: Ask['parts']): string {
  const id = newId()
  addMessage(place, { ...createMessage(id, 'user', parent_id), parts })
  return id
}

function addMessage({ store, userId, id }: Place, { sibling_ids: _, ...message }: Message): void {
  changeConversation(store, userId, id, ({ messages, title }) => ({
    messages: [...messages.filter((one) => one.id !== message.id), message],
    leaf_id: message.id,
    title: title || buildTitle(message.parts),
  }))
}

/** Answers a question. The service stores no message of this conversation, so it gets the whole branch. */
function answer(place: Place, questionId: string, options: AskOptions): void {
  let hasAsked = false
  const open: OpenEvents = async (_, __, signal) => {
    // A lost connection ends the answer: nothing can be rejoined.
    if (hasAsked) return null
    hasAsked = true
    const body = {
      messages: await loadBranch(place, questionId),
      documents: options.documents,
      ...(options.collections.length > 0 && { collections: options.collections }),
      ...(options.model !== undefined && { model: options.model }),
    }
    return request('POST', '/api/conversations/temporary', { body, signal })
  }
  liveAnswers.start(place.id, {
    start: { key: newId(), answerId: newId(), questionId, afterId: questionId, question: null },
    open,
    onEnd: (state) => save(place, state),
  })
}

async function loadBranch({ store, userId, id }: Place, leafId: string) {
  const stored = (await store.load(userId)).find((one) => one.id === id)
  return readBranch(stored?.messages ?? [], leafId).map(({ role, parts }) => ({ role, parts }))
}

/** Stores a finished answer, unless its conversation was deleted meanwhile. */
function save(place: Place, state: LiveState): void {
  const conversation = readConversation(place)
  if (!conversation?.messages.some(({ id }) => id === state.questionId)) return
  addMessage(place, createAnswer(state))
}
