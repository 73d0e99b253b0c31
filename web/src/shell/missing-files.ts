/**
 * Errors of files that failed to load, as after a release that removed them. Vite reports each one
 * (https://vite.dev/guide/build#load-error-handling); the browsers' errors differ only in their text.
 */
const missing = new WeakSet<Error>()

addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))

export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}
