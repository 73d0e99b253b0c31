import { createParser } from 'eventsource-parser'
import { useEffect, useRef, useState } from 'react'
import { request } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import { session } from '../session/browser-session.ts'
import { useUser } from '../session/user.ts'
import { rememberRequest, type Start } from './replay.ts'
import { buildBody, type ChatBody, type Message, type Settings } from './request.ts'
import { createRun, endRun, LOST, type Run, takeEvent } from './run.ts'

const EXAMPLE: Message[] = [{ role: 'user', content: 'Hello' }]

/** The messages, the settings, and the last request with its reply. Lives as long as the page. */
export function usePlayground(model: string, start: Start) {
  const { id: userId } = useUser()
  const [settings, setSettings] = useState(start.settings)
  const [messages, setMessages] = useState(start.messages)
  const [draft, setDraft] = useState('')
  const [run, setRun] = useState<Run | null>(null)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])

  const drafted: Message[] =
    draft.trim() === '' ? messages : [...messages, { role: 'user', content: draft }]
  const isRunning = run?.phase === 'running'

  async function send() {
    const started = createRun(buildBody({ ...settings, model }, drafted))
    controller.current = new AbortController()
    setMessages(drafted)
    setDraft('')
    setRun(started)
    const ended = await sendRun(started, controller.current.signal, setRun)
    setRun(ended)
    // A sign-out, also in another tab, ends the run and has deleted the stored requests.
    if (ended.requestId !== null && session.userId() === userId)
      rememberRequest(userId, ended.requestId, ended.body)
    if (ended.text !== '') setMessages([...drafted, { role: 'assistant', content: ended.text }])
    void queries.invalidateQueries({ queryKey: ['calls'] })
  }

  return {
    settings,
    change: (next: Partial<Omit<Settings, 'model'>>) => setSettings({ ...settings, ...next }),
    messages,
    remove: (index: number) => setMessages(messages.filter((_, at) => at !== index)),
    draft,
    setDraft,
    run,
    isRunning,
    canSend: !isRunning && model !== '' && drafted.at(-1)?.role === 'user',
    send,
    stop: () => controller.current?.abort(),
    restart: () => {
      setMessages([])
      setRun(null)
    },
    request: chooseRequest(),
  }

  /** Returns the last request unless another one is being written. */
  function chooseRequest(): { body: ChatBody; isSent: boolean } {
    if (run !== null && draft.trim() === '') return { body: run.body, isSent: true }
    const shown = drafted.length === 0 ? EXAMPLE : drafted
    return { body: buildBody({ ...settings, model }, shown), isSent: false }
  }
}

export type Playground = ReturnType<typeof usePlayground>

// Sends one request of the playground with the user's session, and reads the reply.

/**
 * Resolves to the ended run. Calls `onChange` once for each part that the network delivers. Never
 * throws.
 */
async function sendRun(
  start: Run,
  signal: AbortSignal,
  onChange: (run: Run) => void,
): Promise<Run> {
  const startedAt = performance.now()
  const readMs = () => Math.round(performance.now() - startedAt)
  let run = start
  try {
    const response = await request('POST', '/v1/chat/completions', { body: run.body, signal })
    run = {
      ...run,
      requestId: response.headers.get('x-request-id'),
      leftOut: response.headers.get('x-latchkey-left-out'),
    }
    if (run.body.stream) {
      for await (const events of readEvents(response)) {
        for (const data of events) run = takeEvent(run, data, readMs())
        onChange(run)
      }
    } else run = takeEvent(run, await response.text(), readMs())
    return endRun(run, readMs())
  } catch (error) {
    const totalMs = readMs()
    if (signal.aborted) return { ...run, phase: 'stopped', totalMs }
    return { ...run, phase: 'failed', totalMs, ...describeFailure(error, run) }
  }
}

/** Yields the events of each network part together, so that a page renders once per part. */
async function* readEvents(response: Response): AsyncGenerator<string[]> {
  let events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return
    parser.feed(part.value)
    if (events.length > 0) yield events
    events = []
  }
}

function describeFailure(error: unknown, run: Run): Pick<Run, 'problem' | 'requestId'> {
  if (!(error instanceof ApiProblem)) return { problem: LOST, requestId: run.requestId }
  const { status, code, message, requestId } = error
  return {
    problem: { status: status === 0 ? null : status, code, message },
    requestId: requestId ?? run.requestId,
  }
}
