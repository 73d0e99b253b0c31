/**
 * Where a request that needs a fresh sign-in waits for the person to sign in again. One question at a time, however many
 * requests wait for its answer; the dialog in the app's frame asks it.
 */
let request: { answer: Promise<boolean>; settle: (signedIn: boolean) => void } | null = null
const listeners = new Set<() => void>()

export const freshSignIn = {
  /** True once the person has signed in again; false when they would rather not, or no page is there to ask. */
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
      // Nobody is left to ask.
      if (listeners.size === 0) freshSignIn.settle(false)
    }
  },
}
