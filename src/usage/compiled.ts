import type { CompiledQuery } from 'kysely'
import { type Db, type Dialect, findDialect } from '#platform/db/db.ts'

/**
 * Queries compiled once for each dialect and name: building one costs more than SQLite then needs to run it.
 * `build` must put its values into the query in the order of the parameters.
 */
export function compiledQueries() {
  const known = new Map<string, CompiledQuery>()
  return (
    db: Db,
    name: string,
    parameters: unknown[],
    build: () => { compile(): CompiledQuery },
  ): CompiledQuery => {
    const dialect: Dialect = findDialect(db)
    const key = `${dialect}:${name}`
    let query = known.get(key)
    if (query === undefined) {
      query = build().compile()
      if (query.parameters.length !== parameters.length)
        throw new Error(`${name} has other parameters than it is given`)
      known.set(key, query)
    }
    return { ...query, parameters }
  }
}
