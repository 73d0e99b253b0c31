import type { CompiledQuery } from 'kysely'
import { type Db, type Dialect, findDialect } from '#platform/db/db.ts'

/**
 * Caches compiled queries by dialect and name, because building one takes longer than SQLite needs to
 * run it. `build` must add its values to the query in the order of `parameters`.
 */
export function createQueryCache() {
  const cache = new Map<string, CompiledQuery>()
  return (
    db: Db,
    name: string,
    parameters: unknown[],
    build: () => { compile(db: Db): CompiledQuery },
  ): CompiledQuery => {
    const dialect: Dialect = findDialect(db)
    const key = `${dialect}:${name}`
    let query = cache.get(key)
    if (query === undefined) {
      query = build().compile(db)
      if (query.parameters.length !== parameters.length)
        throw new Error(
          `query ${name} needs ${query.parameters.length} parameters, got ${parameters.length}`,
        )
      cache.set(key, query)
    }
    return { ...query, parameters }
  }
}
