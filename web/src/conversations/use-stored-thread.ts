import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { api, request } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { newId } from '../components/new-id.ts'
import { allowanceQuery } from '../usage/usage-query.ts'
import type { Message } from './api.ts'
import type { LiveState, OpenEvents } from './live/live-answer.ts'
import { liveAnswers, useLiveAnswer, useLiveState } from './live/live-answers.ts'
import { isQuestionStored, isStored } from './live/turns.ts'
import { announceChange, conversationQuery, conversationsQuery } from './queries.ts'
import type { Ask, AskOptions, Thread } from './thread.ts'

const NONE: Message[] = []
const LAST_EVENT_ID = 'last-event-id'

/** A conversation of the account. Rejoins an answer that another page or device began. */
export function useStoredThread(id: string) {
  const query = useInfiniteQuery(conversationQuery(id))
  const found = useLiveAnswer(id)
  const { data, hasNextPage, fetchNextPage } = query
  const messages = useMemo(
    () => data?.pages.toReversed().flatMap((page) => page.messages as Message[]) ?? NONE,
    [data],
  )
  // The stored answer may be there before the last event of the live one.
  const isLiveStored = useLiveState(found, (state) => isStored(messages, state))
  const live = isLiveStored ? null : found

  // The stored answer replaces the one that this page followed.
  useEffect(() => {
    if (found !== null && live === null) liveAnswers.drop(id)
  }, [found, live, id])

  const running = messages.at(-1)?.outcome === 'running' ? messages.at(-1) : undefined
  useEffect(() => {
    if (running === undefined) return
    const followed = liveAnswers.find(id)?.state
    if (followed?.outcome === 'running') return
    joinAnswer(id, running)
  }, [running, id])

  useChangesElsewhere(id)

  const actions = useMemo(() => createActions(id), [id])
  const thread: Thread = {
    id,
    messages,
    live,
    hasEarlier: hasNextPage,
    loadEarlier: () => void fetchNextPage(),
    ...actions,
    ask: (ask) => askStored(id, ask, messages.at(-1)?.id ?? null),
  }
  return { query, thread, conversation: data?.pages[0]?.conversation }
}

/** Loads the conversation again when the list shows that another device has changed it. */
function useChangesElsewhere(id: string): void {
  const { data: state } = useInfiniteQuery({
    ...conversationsQuery(),
    select: ({ pages }) => {
      const listed = pages
        .flatMap(({ conversations }) => conversations)
        .find((one) => one.id === id)
      return listed && `${listed.updated_at} ${listed.is_running}`
    },
  })
  const last = useRef(state)
  useEffect(() => {
    if (last.current !== undefined && state !== last.current)
      void queries.invalidateQueries({ queryKey: conversationQuery(id).queryKey })
    last.current = state
  }, [state, id])
}

/** Starts an answer to a new question. `parentId`: the message that the reader saw last. */
export function askStored(id: string, { parts, ...options }: Ask, parentId: string | null): void {
  start(
    id,
    { afterId: parentId, question: parts },
    { parent_id: parentId, parts, ...name(options) },
  )
}

function createActions(id: string) {
  return {
    retry: (answer: Message, options: AskOptions) =>
      start(
        id,
        { afterId: answer.parent_id, question: null },
        { parent_id: answer.parent_id, replaces: answer.id, ...name(options) },
      ),
    edit: (question: Message, { parts, ...options }: Ask) =>
      start(
        id,
        { afterId: question.parent_id, question: parts },
        { parent_id: question.parent_id, replaces: question.id, parts, ...name(options) },
      ),
    choose: (messageId: string) => void chooseBranch(id, messageId),
    stop: () => void stopAnswer(id),
  }
}

function name({ model, documents, collections }: AskOptions) {
  return {
    documents,
    ...(collections.length > 0 && { collections }),
    ...(model !== undefined && { model }),
  }
}

type Body = Parameters<typeof api.post<'/api/conversations/{id}/messages'>>[1]

function start(id: string, shown: Pick<LiveState, 'afterId' | 'question'>, body: Body): void {
  const open: OpenEvents = (lastId, answerId, signal) =>
    answerId === null
      ? request('POST', '/api/conversations/{id}/messages', { path: { id }, body, signal })
      : rejoin(id, answerId, lastId, signal)
  const knownIds = new Set(readMessages(id).map((message) => message.id))
  liveAnswers.start(id, {
    start: { key: newId(), ...shown },
    open,
    onBegin: () => void announceChange(id),
    onEnd: (state) => void settle(id, state, knownIds),
  })
}

function joinAnswer(id: string, { id: answerId, parent_id }: Message): void {
  const open: OpenEvents = (lastId, _, signal) => rejoin(id, answerId, lastId, signal)
  liveAnswers.start(id, {
    start: { key: answerId, answerId, afterId: parent_id, question: null },
    open,
    onEnd: (state) => void settle(id, state, new Set()),
  })
}

function rejoin(id: string, messageId: string, lastId: string | null, signal: AbortSignal) {
  return request('GET', '/api/conversations/{id}/messages/{messageId}/stream', {
    path: { id, messageId },
    signal,
    headers: lastId === null ? {} : { [LAST_EVENT_ID]: lastId },
  })
}

async function settle(id: string, state: LiveState, knownIds: ReadonlySet<string>): Promise<void> {
  await announceChange(id)
  const isDone = isQuestionStored(readMessages(id), knownIds, state)
  if (isDone && liveAnswers.find(id)?.state === state) liveAnswers.drop(id)
  void queries.invalidateQueries({ queryKey: allowanceQuery.queryKey })
}

function readMessages(id: string): Message[] {
  const pages = queries.getQueryData(conversationQuery(id).queryKey)?.pages ?? []
  return pages.toReversed().flatMap((page) => page.messages as Message[])
}

async function chooseBranch(id: string, messageId: string): Promise<void> {
  await api.patch('/api/conversations/{id}', { leaf_id: messageId }, { path: { id } })
  await announceChange(id)
}

async function stopAnswer(id: string): Promise<void> {
  await api
    .post('/api/conversations/{id}/stop', undefined, { path: { id } })
    .catch(() => liveAnswers.find(id)?.abort())
}
