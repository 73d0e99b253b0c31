import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * Loads a package synchronously at its first use instead of at the start, for large SDKs that many
 * processes never use. @returns a function that returns the package's exports; `T` is `typeof
 * import('the-package')` or what it exports.
 */
export function lazyRequire<T>(specifier: string): () => T {
  let loaded: { exports: T } | null = null
  return () => {
    loaded ??= { exports: require(specifier) as T }
    return loaded.exports
  }
}
