/** A file that cannot be read, with a reason that a person understands; becomes a 422. Crosses from the worker as its name and message. */
export class Unreadable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options)
    this.name = 'Unreadable'
  }
}
