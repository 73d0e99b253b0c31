/**
 * Files of the app that could not be loaded, as after a new release, which takes the old ones away. Vite says so of every import
 * (https://vite.dev/guide/build#load-error-handling); the browsers' errors themselves differ in words alone.
 */
const missing = new WeakSet<Error>()

addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))

export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}
