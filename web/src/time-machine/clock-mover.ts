/**
 * Moves the service's clock day by day. It belongs to the tab instead of the page, so a move
 * continues while other pages show its effects.
 */
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { MovedClock, TimeMachine } from '../api/types.ts'
import { listPassed, type PassedItem } from './passed.ts'
import { computeSpanEnd, type Span } from './span.ts'

const DAY_MS = 24 * 3_600_000

export type MoverState = {
  /** Null when no move is running; `share`: from 0 to 1. */
  running: { span: Span; now: string; share: number } | null
  /** All that has happened in this tab, oldest first. */
  passed: readonly PassedItem[]
  problem: unknown
}

type Deps = {
  read: () => Promise<TimeMachine>
  move: (to: string) => Promise<MovedClock>
  /** Called after each step, and at the end. */
  onStep: (clock: TimeMachine) => void
  onEnd: () => void
}

export class ClockMover {
  readonly #deps: Deps
  readonly #listeners = new Set<() => void>()
  #state: MoverState = { running: null, passed: [], problem: null }
  #isStopping = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly read = (): MoverState => this.#state

  /** Ends the move after the running step. */
  stop(): void {
    this.#isStopping = true
  }

  async move(span: Span): Promise<void> {
    if (this.#state.running) return
    this.#isStopping = false
    this.#set({ running: { span, now: '', share: 0 }, problem: null })
    try {
      await this.#run(span)
    } catch (problem) {
      this.#set({ problem })
    }
    this.#set({ running: null })
    this.#deps.onEnd()
  }

  async #run(span: Span): Promise<void> {
    let { now } = await this.#deps.read()
    const startMs = Date.parse(now)
    const endMs = computeSpanEnd(now, span)
    while (Date.parse(now) < endMs && !this.#isStopping) {
      const toMs = Math.min(Date.parse(now) + DAY_MS, endMs)
      const moved = await this.#deps.move(new Date(toMs).toISOString())
      now = moved.now
      this.#deps.onStep({ now, real_time: moved.real_time, ahead: moved.ahead })
      this.#set({
        running: { span, now, share: (Date.parse(now) - startMs) / (endMs - startMs) },
        passed: [...this.#state.passed, ...listPassed(moved)],
      })
    }
  }

  #set(changes: Partial<MoverState>): void {
    this.#state = { ...this.#state, ...changes }
    for (const listener of this.#listeners) listener()
  }
}

export const clockKey = ['run', 'time-machine']

export const clockMover = new ClockMover({
  read: () => api.get('/api/admin/time-machine'),
  move: (to) => api.post('/api/admin/time-machine', { to }),
  onStep: (clock) => queries.setQueryData(clockKey, clock),
  onEnd: () => void queries.invalidateQueries(),
})
