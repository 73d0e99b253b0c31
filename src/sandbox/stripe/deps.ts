/** The dependencies of the sandbox's processor. */
import type { Clock } from '#platform/clock.ts'
import type { SandboxDatabase } from '../database.ts'

/**
 * The targets of signed events: one per part of the product, each with a separate secret, like two
 * endpoints of one account.
 */
export type Endpoint = { name: string; url: string; secret: string }

export type ProcessorDeps = {
  db: SandboxDatabase
  clock: Clock
  /** Called for each delivery, because the ports are known only once the product listens. */
  endpoints: () => readonly Endpoint[]
  /** Origin of the hosted pages in the browser. */
  origin: () => string
  /** Called after something was emitted; deliveries then start on their own. */
  wake: () => void
}

/** The dependency of functions that only read. */
export type Db = Pick<ProcessorDeps, 'db'>

/** `act` runs a button's work in one transaction, and waits for its webhooks. */
export type PageDeps = ProcessorDeps & { act: <T>(work: () => T) => Promise<T> }

export const API_VERSION = '2026-09-30.endive'

/** Unix seconds, as the processor's API counts time. */
export const seconds = (deps: { clock: Clock }): number => Math.floor(deps.clock.ms() / 1000)
