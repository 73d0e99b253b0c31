import { useEffect, useRef, useState } from 'react'
import { queries } from '../api/queries.ts'
import { session } from '../session/browser-session.ts'
import { useUser } from '../session/user.ts'
import { rememberRequest, type Start } from './replay.ts'
import { buildBody, type ChatBody, type Message, type Settings } from './request.ts'
import { createRun, type Run } from './run.ts'
import { sendRun } from './send-run.ts'

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
