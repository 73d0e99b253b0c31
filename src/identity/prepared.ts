import type { Compilable, CompiledQuery } from 'kysely'
import { type Db, type Dialect, dialectOf } from '#platform/db/db.ts'

/**
 * Builds a query once for each dialect and runs it with other parameters: building costs 15 µs, twice what SQLite
 * then needs. Only for queries on the way of every request. `build` may not put values of its own into the query.
 */
export function prepared<R>(build: (db: Db) => Compilable<R>, parameterCount: number) {
  const compiled = new Map<Dialect, CompiledQuery<R>>()
  return async (db: Db, ...parameters: unknown[]): Promise<R | undefined> => {
    const dialect = dialectOf(db)
    let query = compiled.get(dialect)
    if (!query) {
      query = build(db).compile()
      if (query.parameters.length !== parameterCount) throw new Error('a prepared query holds values of its own')
      compiled.set(dialect, query)
    }
    return (await db.executeQuery<R>({ ...query, parameters })).rows[0]
  }
}
