// The log of an answer: its text so far, and the other events with their places in it. An event's
// id is its position, in characters of text and reasoning plus events, so a client can continue
// from any id, also on another node, which has only the row.
import { DONE } from '#platform/http/sse.ts'
import type { Citation } from '#rag/answer/citations.ts'
import type { MessageContent, Reasoning, Source, ToolUse } from '../content.ts'
import { conversationProblem } from '../problems.ts'
import type { Outcome } from '../tables.ts'

/**
 * An event other than text. `at`: the length of the text before it. Sources, citations and the
 * reasoning are stored once, beside the events: their event has `count`, how many of them it
 * reaches, instead of `data`.
 */
export type LoggedEvent = { at: number; name: string; data?: unknown; count?: number }

type Ending = Exclude<Outcome, 'running'>
export type AnswerProblem = { code: string; detail: string }

export class AnswerLog {
  #text = ''
  #events: LoggedEvent[] = []
  #sources: readonly Source[] = []
  #citations: readonly Citation[] = []
  #tools: ToolUse[] = []
  #reasoning: Reasoning = { text: '', ms: 0 }
  /** Null while the model does not think. */
  #thinkingSinceMs: number | null = null
  #problem: AnswerProblem | null = null
  #outcome: Outcome = 'running'
  #changed = Promise.withResolvers<void>()
  #changes = 0

  /** Restores the log of a message's row. */
  static restore(content: MessageContent, outcome: Outcome): AnswerLog {
    const log = new AnswerLog()
    log.#text = content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    log.#events = [...(content.events ?? [])]
    log.#sources = content.sources
    log.#citations = content.citations
    log.#tools = content.tools
    log.#reasoning = content.reasoning ?? log.#reasoning
    log.#problem = content.problem ?? (outcome === 'interrupted' ? describeInterruption() : null)
    log.#outcome = outcome
    return log
  }

  get text(): string {
    return this.#text
  }

  get outcome(): Outcome {
    return this.#outcome
  }

  /** Increases with every change. */
  get changes(): number {
    return this.#changes
  }

  /** Resolves at the next change. */
  get changed(): Promise<void> {
    return this.#changed.promise
  }

  addText(text: string): void {
    if (text === '') return
    this.#text += text
    this.#announce()
  }

  addEvent(name: string, data: unknown): void {
    this.#add({ name, data })
  }

  addReasoning(text: string): void {
    if (text === '') return
    const { text: before, ms } = this.#reasoning
    const isNew = this.#thinkingSinceMs === null
    this.#thinkingSinceMs ??= performance.now()
    const all = isNew && before !== '' ? `${before}\n\n${text}` : before + text
    this.#reasoning = { text: all, ms }
    const last = this.#events.at(-1)
    // Chunks become one event that grows.
    if (last?.name === 'reasoning' && last.at === this.#text.length) this.#events.pop()
    this.#add({ name: 'reasoning', count: all.length })
  }

  /** Ends the time that the model thinks, at its first other output. */
  endReasoning(): void {
    if (this.#thinkingSinceMs === null) return
    const ms = Math.round(this.#reasoning.ms + performance.now() - this.#thinkingSinceMs)
    this.#thinkingSinceMs = null
    this.#reasoning = { ...this.#reasoning, ms }
    this.addEvent('thought', { ms })
  }

  /** Logs a tool at its start and, with the number of results, at its end. */
  addTool(use: ToolUse): void {
    if (use.state === 'running') this.#tools.push(use)
    else this.#tools[this.#tools.length - 1] = use
    this.#add({ name: 'tool', data: use })
  }

  /** Ends a tool that failed. */
  endTool(): void {
    const last = this.#tools.at(-1)
    if (last?.state === 'running') this.addTool({ ...last, state: 'done', found: 0 })
  }

  /** `sources`: all so far. */
  setSources(sources: readonly Source[]): void {
    this.#sources = sources
    this.#add({ name: 'sources', count: sources.length })
  }

  setCitations(citations: readonly Citation[]): void {
    this.#citations = citations
    this.#add({ name: 'citations', count: citations.length })
  }

  /** Ends the log. `problem`: why the answer failed. */
  end(outcome: Ending, problem: AnswerProblem | null = null): void {
    this.#outcome = outcome
    this.#problem = problem
    this.#announce()
  }

  /** Returns the message's content. `problem` is the one that it is about to end with. */
  toContent(problem: AnswerProblem | null = this.#problem): MessageContent {
    return {
      parts: this.#text === '' ? [] : [{ type: 'text', text: this.#text }],
      sources: [...this.#sources],
      citations: [...this.#citations],
      tools: [...this.#tools],
      reasoning: this.#reasoning.text === '' ? null : this.#reasoning,
      problem,
      events: [...this.#events],
    }
  }

  /** Returns the events after a position, as server-sent events, and the position behind them. */
  readAfter(position: number): { text: string; position: number } {
    let out = ''
    let behind = 0
    const write = (name: string | null, all: string, from: number, to: number) => {
      const start = Math.max(from, from + position - behind)
      behind += to - from
      if (start < to) out += encode(behind, name, { token: all.slice(start, to) })
    }
    let at = 0
    let thought = 0
    for (const event of this.#events) {
      write(null, this.#text, at, event.at)
      at = event.at
      if (event.name === 'reasoning') {
        const { count = thought } = event
        write(event.name, this.#reasoning.text, thought, count)
        thought = count
      } else {
        behind++
        if (behind > position) out += encode(behind, event.name, this.#readData(event))
      }
    }
    write(null, this.#text, at, this.#text.length)
    return { text: out + this.#encodeEnd(), position: Math.max(position, behind) }
  }

  #add(event: Omit<LoggedEvent, 'at'>): void {
    this.#events.push({ at: this.#text.length, ...event })
    this.#announce()
  }

  #announce(): void {
    this.#changes++
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #readData({ name, data, count = 0 }: LoggedEvent): unknown {
    if (name === 'sources') return { sources: this.#sources.slice(0, count) }
    if (name === 'citations') return { citations: this.#citations.slice(0, count) }
    return data
  }

  /** A failed or interrupted answer has no `[DONE]`. */
  #encodeEnd(): string {
    if (this.#outcome === 'running') return ''
    if (this.#problem === null) return DONE
    return `event: error\ndata: ${JSON.stringify(this.#problem)}\n\n`
  }
}

export function describeInterruption(): AnswerProblem {
  const { code, message: detail } = conversationProblem('answer_interrupted')
  return { code, detail }
}

function encode(id: number, name: string | null, data: unknown): string {
  const event = name === null ? '' : `event: ${name}\n`
  return `id: ${id}\n${event}data: ${JSON.stringify(data)}\n\n`
}
