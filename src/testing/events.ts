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
