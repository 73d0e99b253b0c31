/**
 * Requests that need a fresh sign-in wait here. All share one dialog, which the app's layout
 * shows.
 */
let request: { answer: Promise<boolean>; settle: (signedIn: boolean) => void } | null = null
const listeners = new Set<() => void>()

export const freshSignIn = {
  /**
   * Resolves to true after a new sign-in; to false when the user cancels or no dialog is mounted.
   */
  ask(): Promise<boolean> {
    if (request) return request.answer
    if (listeners.size === 0) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    request = { answer: promise, settle: resolve }
    for (const listener of listeners) listener()
    return promise
  },

  isAsked: () => request !== null,

  settle(signedIn: boolean): void {
    const question = request
    request = null
    question?.settle(signedIn)
    for (const listener of listeners) listener()
  },

  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      // No dialog is mounted any more.
      if (listeners.size === 0) freshSignIn.settle(false)
    }
  },
}
