/**
 * Finds dead connections to PostgreSQL, as after a network failure, which the kernel would report
 * only after fifteen minutes. A connection that was silent for a second is checked before use. When
 * a check fails, every connection that has been silent since before the check is closed, idle or
 * not, because they usually share the cause.
 */
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

/** A connection that has answered this recently is trusted. */
const TRUSTED_MS = 1_000
const CHECK_MS = 1_000

export class Liveness {
  /** When each connection last answered. */
  readonly #answeredMs = new WeakMap<PoolClient, number>()
  /** When each connection with a running statement started it. */
  readonly #askedMs = new Map<PoolClient, number>()
  /** Connections whose last answer is older than this are closed. */
  #suspectBeforeMs = Number.NEGATIVE_INFINITY

  /**
   * Returns a connection that answers. @throws the pool's error when none is free in time and none
   * can be opened.
   */
  async connect(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect()
      const answeredMs = this.#answeredMs.get(client)
      // A new one has just answered.
      if (answeredMs === undefined) return client
      if (answeredMs >= this.#suspectBeforeMs) {
        if (performance.now() - answeredMs < TRUSTED_MS || (await this.#check(client)))
          return client
      }
      client.release(true)
    }
  }

  asked(client: PoolClient): void {
    this.#askedMs.set(client, performance.now())
  }

  /** `isAnswer` is false for a failure of the connection. */
  settled(client: PoolClient, isAnswer: boolean): void {
    this.#askedMs.delete(client)
    if (isAnswer) this.#answeredMs.set(client, performance.now())
  }

  async #check(client: PoolClient): Promise<boolean> {
    const begunMs = performance.now()
    const answer = client.query('select 1').then(
      () => 'alive',
      () => 'ended',
    )
    // After a stall of this process, the timer fires before the process reads an answer that has
    // already arrived. So two more turns of the event loop follow to read it.
    const late = sleep(CHECK_MS, 'silent', { ref: false }).then((outcome) =>
      nextTurn().then(() => nextTurn(outcome)),
    )
    const outcome = await Promise.race([answer, late])
    if (outcome === 'alive') this.settled(client, true)
    if (outcome === 'silent') this.#giveUp(begunMs)
    return outcome === 'alive'
  }

  #giveUp(beforeMs: number): void {
    this.#suspectBeforeMs = Math.max(this.#suspectBeforeMs, beforeMs)
    for (const [client, askedMs] of this.#askedMs) {
      if (askedMs < beforeMs) close(client)
      else if ((this.#answeredMs.get(client) ?? askedMs) < beforeMs) {
        // It was trusted after the check began. It has as long to answer as the check had.
        const restMs = askedMs + CHECK_MS - performance.now()
        setTimeout(() => this.#askedMs.get(client) === askedMs && close(client), restMs).unref()
      }
    }
  }
}

function close(client: PoolClient): void {
  ;(client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
}
