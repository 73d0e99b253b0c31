import { ApiProblem, formatProblem } from '../../api/problem.ts'
import type { Citation } from '../../api/types.ts'
import type { AnswerProblem, Outcome, Part, Reasoning, Source, ToolCall, Usage } from '../api.ts'
import { type AnswerEvent, readEvents } from './events.ts'

/** An answer in progress as the page shows it. Each change is a new object. */
export type LiveState = {
  /** Stable keys for React: they stay when the service has named the messages. */
  key: string
  questionId: string | null
  answerId: string | null
  /** The message that the new ones follow; null: they begin the conversation. */
  afterId: string | null
  /** The question that was sent with this answer; null for another answer to an old one. */
  question: Part[] | null
  text: string
  reasoning: Reasoning | null
  isThinking: boolean
  tools: ToolCall[]
  sources: Source[]
  citations: Citation[]
  model: string | null
  usage: Usage | null
  outcome: Outcome
  problem: AnswerProblem | null
  title: string | null
}

/**
 * Opens the events: first with null, then after a lost connection with the last event’s id.
 * Returns null when there is nothing to resume.
 */
export type OpenEvents = (
  lastId: string | null,
  answerId: string | null,
  signal: AbortSignal,
) => Promise<Response | null>

const RETRIES_MAX = 6
const RETRY_MS = 400

/** Follows one answer. Listeners hear of changes at most once per animation frame. */
export class LiveAnswer {
  #state: LiveState
  #shown: LiveState
  #frame = 0
  readonly #listeners = new Set<() => void>()
  readonly #controller = new AbortController()
  readonly #open: OpenEvents
  /** Sends the same request again. */
  readonly again: () => void

  constructor(
    start: Pick<LiveState, 'key' | 'afterId' | 'question'> & Partial<LiveState>,
    open: OpenEvents,
    again: () => void,
  ) {
    this.#state = {
      questionId: null,
      answerId: null,
      text: '',
      reasoning: null,
      isThinking: false,
      tools: [],
      sources: [],
      citations: [],
      model: null,
      usage: null,
      outcome: 'running',
      problem: null,
      title: null,
      ...start,
    }
    this.#shown = this.#state
    this.#open = open
    this.again = again
  }

  get state(): LiveState {
    return this.#shown
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Stops following. The service continues a stored answer. */
  abort(): void {
    this.#controller.abort()
  }

  /** Resolves when the answer has ended or cannot be followed any further. Never throws. */
  async follow(): Promise<void> {
    const { signal } = this.#controller
    let lastId: string | null = null
    let problem: AnswerProblem | null = null
    for (let failures = 0; failures <= RETRIES_MAX && !signal.aborted; ) {
      try {
        const response = await this.#open(lastId, this.#state.answerId, signal)
        if (!response?.body) break
        const read = await readEvents(response.body, (event) => this.#take(event))
        if (read.hasEnded) return
        failures = read.lastId === null ? failures + 1 : 1
        lastId = read.lastId ?? lastId
        problem = null
      } catch (error) {
        problem = describeProblem(error)
        const isOffline = error instanceof ApiProblem && error.status === 0
        // Without an id, a repeated question could be asked twice.
        if (!isOffline || this.#state.answerId === null) break
        failures += 1
      }
      await waitForRetry(RETRY_MS * 2 ** failures, signal)
    }
    if (signal.aborted) this.#end('stopped', null)
    else this.#end(problem === null ? 'interrupted' : 'failed', problem)
  }

  #take(event: AnswerEvent): void {
    const { text, reasoning, tools, answerId, questionId } = this.#state
    switch (event.kind) {
      case 'token':
        this.#set({ text: text + event.token })
        break
      case 'message':
        this.#set({
          answerId: answerId ?? event.id,
          questionId: questionId ?? event.questionId,
          text: '',
          reasoning: null,
          isThinking: false,
          tools: [],
        })
        break
      case 'reasoning':
        this.#set({
          reasoning: { text: (reasoning?.text ?? '') + event.token, ms: reasoning?.ms ?? 0 },
          isThinking: true,
        })
        break
      case 'thought':
        this.#set({
          reasoning: reasoning && { ...reasoning, ms: event.ms },
          isThinking: false,
        })
        break
      case 'tool':
        this.#set({ tools: mergeTool(tools, event.tool) })
        break
      case 'sources':
        this.#set({ sources: event.sources })
        break
      case 'citations':
        this.#set({ citations: event.citations })
        break
      case 'title':
        this.#set({ title: event.title })
        break
      case 'usage':
        this.#set({ usage: event.usage, model: event.model })
        break
      case 'problem':
        this.#end('failed', event.problem)
        break
      case 'done':
        this.#end('ok', null)
        break
    }
  }

  #end(outcome: Outcome, problem: AnswerProblem | null): void {
    if (this.#state.outcome !== 'running') return
    this.#set({ outcome, problem })
    this.#show()
  }

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change }
    // A hidden page has no frames; it shows everything when the answer ends or the page returns.
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#show())
  }

  #show(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#shown = this.#state
    for (const listener of this.#listeners) listener()
  }
}

/** A call is reported twice: when it starts and when it is done. */
function mergeTool(tools: ToolCall[], tool: ToolCall): ToolCall[] {
  if (tool.state === 'running') return [...tools, tool]
  const at = tools.findLastIndex((one) => one.name === tool.name && one.state === 'running')
  return at < 0 ? [...tools, tool] : tools.with(at, { ...tools[at], ...tool })
}

function describeProblem(error: unknown): AnswerProblem {
  return {
    detail: formatProblem(error),
    code: error instanceof ApiProblem ? error.code : null,
  }
}

function waitForRetry(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const now = () => {
      clearTimeout(timer)
      resolve()
    }
    addEventListener('online', now, { once: true, signal })
    signal.addEventListener('abort', now, { once: true })
  })
}
