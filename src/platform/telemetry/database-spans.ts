/**
 * Creates spans for groups of statements: consecutive statements of one parent share a span with
 * their number and tables. A request has at most twenty such spans, however many statements it
 * runs. Spans contain no SQL text or values.
 */
import type { DatabaseConnection, Dialect as Engine } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { AsyncCommit, FastRead } from '../db/adapter.ts'
import type { Dialect } from '../db/db.ts'
import { currentSpan, epochMs, type Span, type Tracer } from './tracer.ts'

/** Statements later than this after the last one's end form a new group. */
const APART_MS = 5
const GROUPS_MAX = 20
const SUMMARY_WORDS_MAX = 8
const SUMMARIES_MAX = 2_000

type Group = {
  startMs: number
  endMs: number
  statements: number
  words: Set<string>
  failure: string | null
}

/** Wraps an engine so that its statements are recorded as spans. */
export function tracedEngine(engine: Engine, tracer: Tracer, dialect: Dialect): Engine {
  const open = new WeakMap<Span, { group: Group; count: number }>()
  const system = dialect === 'sqlite' ? 'sqlite' : 'postgresql'

  const close = (parent: Span, { startMs, endMs, statements, words, failure }: Group) => {
    const summary = [...words].join(', ')
    const attributes = {
      'db.system.name': system,
      'db.query.summary': summary,
      'db.operation.batch.size': statements,
    }
    tracer.start('database', { kind: 'client', parent, startMs, attributes }).end(failure, endMs)
  }

  const note = (text: string, tookMs: number, failure: string | null) => {
    const parent = currentSpan()
    if (!parent?.isSampled) return
    const endMs = epochMs()
    const startMs = endMs - tookMs
    let state = open.get(parent)
    if (state === undefined) {
      const first = { group: newGroup(startMs), count: 1 }
      state = first
      open.set(parent, state)
      parent.onEnd(() => close(parent, first.group))
    } else if (startMs - state.group.endMs > APART_MS && state.count < GROUPS_MAX) {
      close(parent, state.group)
      state.group = newGroup(startMs)
      state.count++
    }
    const { group } = state
    group.startMs = Math.min(group.startMs, startMs)
    group.endMs = Math.max(group.endMs, endMs)
    group.statements++
    if (group.words.size < SUMMARY_WORDS_MAX) group.words.add(summarizeStatement(text))
    group.failure ??= failure
  }

  const timed = <T>(text: string, work: () => T): T => {
    const begun = performance.now()
    const done = (failure: string | null) => note(text, performance.now() - begun, failure)
    try {
      const result = work()
      if (result instanceof Promise) {
        result.then(
          () => done(null),
          (error) => done(readErrorCode(error)),
        )
      } else done(null)
      return result
    } catch (error) {
      done(readErrorCode(error))
      throw error
    }
  }

  const watch = (connection: DatabaseConnection) => {
    const { executeQuery } = connection
    connection.executeQuery = (query) =>
      timed(query.sql, () => executeQuery.call(connection, query) as never)
  }

  return {
    createQueryCompiler: () => engine.createQueryCompiler(),
    createIntrospector: (db) => engine.createIntrospector(db),
    createAdapter() {
      const adapter = engine.createAdapter()
      const { firstRow, commitAsync } = adapter as unknown as FastRead & AsyncCommit
      // Statements that bypass Kysely.
      return Object.assign(adapter, {
        firstRow: (text: string, parameters: readonly unknown[]) =>
          timed(text, () => firstRow(text, parameters)),
        commitAsync: <T>(...[work, committed]: Parameters<typeof commitAsync<T>>) =>
          timed('commit', () =>
            commitAsync((run) => work((query) => timed(query.sql, () => run(query))), committed),
          ),
      })
    },
    createDriver() {
      const driver = engine.createDriver()
      const { acquireConnection, beginTransaction, commitTransaction } = driver
      return Object.assign(driver, {
        async acquireConnection() {
          const connection = await acquireConnection.call(driver)
          watch(connection)
          return connection
        },
        // Statements of a transaction use another method.
        async beginTransaction(...[connection, settings]: Parameters<typeof beginTransaction>) {
          await timed('begin', () => beginTransaction.call(driver, connection, settings))
          watch(connection)
        },
        commitTransaction: (connection: DatabaseConnection) =>
          timed('commit', () => commitTransaction.call(driver, connection)),
      })
    },
  }
}

const newGroup = (startMs: number): Group => ({
  startMs,
  endMs: startMs,
  statements: 0,
  words: new Set(),
  failure: null,
})

/** Returns the error's code, never its message, because PostgreSQL's messages contain values. */
function readErrorCode(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

const summaries = new LRUCache<string, string>({ max: SUMMARIES_MAX })

/**
 * Returns the verb and table of a statement, such as `select sessions`. The text contains no
 * values.
 */
export function summarizeStatement(text: string): string {
  const known = summaries.get(text)
  if (known !== undefined) return known
  const verb = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement'
  const table = /\b(?:from|into|update)\s+(?:only\s+)?"?([a-z_]+)"?/i.exec(text)?.[1]
  const summary = table === undefined ? verb : `${verb} ${table}`
  summaries.set(text, summary)
  return summary
}
