// Reads server-sent events as a client does.

export type ReceivedEvent = {
  id: number | null
  /** Null for an event without a name. */
  name: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests read events without declaring their types.
  data: any
}

/** Reads whole events; comments and `[DONE]` are left out. */
export function readEvents(text: string): ReceivedEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const field = (name: string) =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2)
    const data = field('data')
    if (data === undefined || data === '[DONE]') return []
    const id = field('id')
    return [
      {
        id: id === undefined ? null : Number(id),
        name: field('event') ?? null,
        data: JSON.parse(data),
      },
    ]
  })
}

/** Joins the text of an answer. */
export function joinTokens(events: readonly ReceivedEvent[]): string {
  return events.flatMap(({ name, data }) => (name === null ? [data.token] : [])).join('')
}

/** A stream that is being received. */
export class OpenEvents {
  readonly status: number
  readonly #controller: AbortController
  #text = ''
  #isOver = false
  #changed = Promise.withResolvers<void>()

  private constructor(response: Response, controller: AbortController) {
    this.status = response.status
    this.#controller = controller
    void this.#receive(response)
  }

  /** Sends a request with the caller's token. */
  static async open(
    url: string,
    { token }: { token: string },
    { body, after }: { body?: unknown; after?: number | undefined } = {},
  ): Promise<OpenEvents> {
    const controller = new AbortController()
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(after === undefined ? {} : { 'last-event-id': String(after) }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return new OpenEvents(response, controller)
  }

  /** What has arrived. */
  get text(): string {
    return this.#text
  }

  /** Returns the events once one of them matches. @throws when the stream ends before */
  async until(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent[]> {
    for (;;) {
      // The last block may be incomplete.
      const whole = this.#text.slice(0, this.#text.lastIndexOf('\n\n') + 2)
      const events = readEvents(whole)
      if (events.some(matches)) return events
      if (this.#isOver) throw new Error(`the stream ended: ${this.#text}`)
      await this.#changed.promise
    }
  }

  /** Resolves with the whole text when the stream has ended. */
  async end(): Promise<string> {
    while (!this.#isOver) await this.#changed.promise
    return this.#text
  }

  leave(): void {
    this.#controller.abort()
  }

  async #receive(response: Response): Promise<void> {
    try {
      const decoder = new TextDecoder()
      for await (const bytes of response.body ?? []) {
        this.#text += decoder.decode(bytes, { stream: true })
        this.#announce()
      }
    } catch {
      // The client has left, or the connection broke; `text` has what arrived.
    }
    this.#isOver = true
    this.#announce()
  }

  #announce(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
