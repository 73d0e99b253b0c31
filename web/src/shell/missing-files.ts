/**
 * Errors of files that failed to load, for example because a release removed them. Vite reports
 * each one (https://vite.dev/guide/build#load-error-handling); the browsers' own errors have no
 * code.
 */
const missing = new WeakSet<Error>()

addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))

export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}
