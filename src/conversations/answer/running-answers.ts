// The answers that this process writes. They continue when their clients leave, and write their
// rows every second for other nodes and against crashes. Closing waits for every answer and every
// request of this folder.
import { setTimeout as wait } from 'node:timers/promises'
import { findDialect } from '#platform/db/db.ts'
import { streamProblem } from '#platform/http/sse.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import type { MessageKey } from '../message-store.ts'
import { type AnswerEnd, finishAnswer, interruptAnswers, saveAnswer } from '../messages.ts'
import { AnswerLog, type AnswerProblem, describeInterruption } from './answer-log.ts'

type Deps = Pick<Platform, 'db' | 'clock' | 'secrets' | 'log' | 'bus'>

/** `deleted`: the conversation is gone, or another node has ended the answer. */
type Stop = 'stopped' | 'interrupted' | 'deleted'
type Result = { outcome: AnswerEnd['outcome'] | 'deleted'; problem: AnswerProblem | null }

/** The reason of an answer's signal. */
class AnswerStopped extends Error {
  readonly outcome: Stop
  constructor(outcome: Stop) {
    super(`the answer was ${outcome}`)
    this.outcome = outcome
  }
}

/** Writes one answer. */
export type Job = {
  requestId: string
  write(log: AnswerLog, signal: AbortSignal): Promise<void>
  /** Called after `write` has ended. */
  summarize(): Pick<AnswerEnd, 'usage' | 'model'>
}

type Running = {
  key: MessageKey
  log: AnswerLog
  controller: AbortController
  ended: Promise<void>
}

const SAVE_MS = 1_000
/** An answer without a write for this long belongs to a dead process. */
const DEAD_MS = 60_000
/** An answer without news is written, too, to show that its process lives. */
const BEAT_MS = 10_000
const SWEEP_MS = 30_000
const FINISH_DELAYS_MS = [200, 1_000, 3_000]
const STOP_TOPIC = 'conversations.stop'

export class RunningAnswers {
  readonly #deps: Deps
  /** By conversation, which has one running answer at most. */
  readonly #running = new Map<string, Running>()
  readonly #work = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #sweeping: NodeJS.Timeout | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    deps.bus.on(STOP_TOPIC, (payload) => {
      const { userId, conversationId } = payload as Omit<MessageKey, 'id'>
      this.#find({ userId, conversationId })?.controller.abort(new AnswerStopped('stopped'))
    })
  }

  /** Aborts when the process closes. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Ends the answers of dead processes, now and regularly. */
  async open(): Promise<void> {
    // On SQLite, only one process answers.
    const isAlone = findDialect(this.#deps.db) === 'sqlite'
    await interruptAnswers(this.#deps, isAlone ? 0 : DEAD_MS)
    this.#sweeping = setInterval(() => void this.track(this.#sweep()), SWEEP_MS).unref()
  }

  stopSweeping(): void {
    clearInterval(this.#sweeping)
  }

  /** Closing waits for this work. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => {},
      () => {},
    )
    this.#work.add(settled)
    void settled.then(() => this.#work.delete(settled))
    return work
  }

  start(key: MessageKey, job: Job): AnswerLog {
    const log = new AnswerLog()
    const controller = new AbortController()
    if (this.closing.aborted) controller.abort(new AnswerStopped('interrupted'))
    const running = { key, log, controller, ended: Promise.resolve() }
    this.#running.set(toName(key), running)
    running.ended = this.track(this.#run(running, job))
    return log
  }

  /** Returns the log of an answer that this process writes. */
  findLog(key: MessageKey): AnswerLog | null {
    const running = this.#find(key)
    return running?.key.id === key.id ? running.log : null
  }

  /** Stops the answer and waits until its row shows it. @returns false where it runs elsewhere */
  async stop(of: Omit<MessageKey, 'id'>): Promise<boolean> {
    const running = this.#find(of)
    if (running === undefined) {
      this.#deps.bus.publish(STOP_TOPIC, { userId: of.userId, conversationId: of.conversationId })
      return false
    }
    running.controller.abort(new AnswerStopped('stopped'))
    await running.ended
    return true
  }

  /** Waits for the running answers, at most `ms`. */
  async drain(ms: number): Promise<void> {
    const over = new AbortController()
    const all = Promise.all([...this.#running.values()].map(({ ended }) => ended))
    await Promise.race([all, wait(ms, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
  }

  /** Interrupts what is left. */
  async close(): Promise<void> {
    this.stopSweeping()
    this.#closing.abort(new AnswerStopped('interrupted'))
    while (this.#work.size > 0) {
      for (const { controller } of this.#running.values())
        controller.abort(new AnswerStopped('interrupted'))
      await Promise.all(this.#work)
    }
  }

  #find(of: Omit<MessageKey, 'id'>): Running | undefined {
    return this.#running.get(toName(of))
  }

  async #run(running: Running, job: Job): Promise<void> {
    const { key, log, controller } = running
    const written = new AbortController()
    const saving = this.#keepSaved(key, log, controller, written.signal)
    const { signal } = controller
    const result = await Promise.resolve()
      .then(() => signal.throwIfAborted())
      .then(() => job.write(log, signal))
      .then(
        (): Result => ({ outcome: 'ok', problem: null }),
        (error: unknown) => this.#explain(error, signal, job.requestId),
      )
    written.abort()
    await saving
    if (result.outcome === 'deleted') log.end('stopped')
    else {
      const { outcome, problem } = result
      await this.#finish(key, { ...job.summarize(), outcome, content: log.toContent(problem) })
      log.end(outcome, problem)
    }
    if (this.#find(key) === running) this.#running.delete(toName(key))
  }

  /** Writes the row while there is news. Aborts an answer whose row was deleted or ended. */
  async #keepSaved(
    key: MessageKey,
    log: AnswerLog,
    controller: AbortController,
    until: AbortSignal,
  ): Promise<void> {
    let saved = 0
    let savedMs = performance.now()
    for (;;) {
      await wait(SAVE_MS, undefined, { signal: until }).catch(() => {})
      if (until.aborted) return
      if (log.changes === saved && performance.now() - savedMs < BEAT_MS) continue
      saved = log.changes
      savedMs = performance.now()
      try {
        const isRunning = await saveAnswer(this.#deps, key, log.toContent())
        if (!isRunning) controller.abort(new AnswerStopped('deleted'))
      } catch (err) {
        this.#deps.log.warn({ err }, 'a running answer could not be saved and will be retried')
      }
    }
  }

  #explain(error: unknown, signal: AbortSignal, requestId: string): Result {
    if (signal.aborted && signal.reason instanceof AnswerStopped) {
      const { outcome } = signal.reason
      return { outcome, problem: outcome === 'interrupted' ? describeInterruption() : null }
    }
    if (!(error instanceof Problem))
      this.#deps.log.error({ err: error, reqId: requestId }, 'an answer failed')
    const { code, message: detail } = streamProblem(error, requestId)
    return { outcome: 'failed', problem: { code, detail } }
  }

  async #finish(key: MessageKey, end: AnswerEnd): Promise<void> {
    for (const delayMs of [...FINISH_DELAYS_MS, null]) {
      try {
        await finishAnswer(this.#deps, key, end)
        return
      } catch (err) {
        if (delayMs === null) this.#deps.log.error({ err }, 'the end of an answer was not saved')
        else await wait(delayMs)
      }
    }
  }

  async #sweep(): Promise<void> {
    try {
      await interruptAnswers(this.#deps, DEAD_MS)
    } catch (err) {
      this.#deps.log.warn({ err }, 'answers of dead processes could not be ended')
    }
  }
}

const toName = ({ userId, conversationId }: Omit<MessageKey, 'id'>) => `${userId}/${conversationId}`
